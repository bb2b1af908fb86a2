"""Translators that learn to restore plain text."""

import contextlib
from pathlib import Path
from typing import Any

import pytest

import saccade
from saccade.base.errors import InputError
from saccade.base.shuffling import Cursor
from saccade.cli.main import main
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.translation.data import Splits, load_splits
from saccade.tasks.translation.denoising import cut_overlong, damage_pairs
from saccade.tasks.translation.kind import KIND
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.tasks.translation.training import TranslationTask
from saccade.text import (
    MASK,
    NoiseSettings,
    Pair,
    VocabularySettings,
    learn_vocabularies,
    learn_vocabulary,
    save_vocabularies,
)
from saccade.training import Silent, read_journal

TEXTS = [
    f"{who} {does} {what} . {then} ."
    for who in ("a dog", "my cat", "the old man")
    for does in ("sees", "wants")
    for what in ("a ball", "red fish", "the sea")
    for then in ("it is far", "we laugh")
]
SMALL = [
    "vocabulary.kind=words",
    "vocabulary.size=60",
    "model.layers=1",
    "model.dim=32",
    "model.heads=2",
    "model.feed_forward=64",
    "model.dropout=0.0",
    "train.batch_tokens=300",
    "train.threads=1",
    "train.tensorboard=false",
]
WORDS = VocabularySettings(kind="words", joint=True)


class Listening(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{text}\n" for text in TEXTS))
    return path


def task_of(text: Path, run: Path, *settings: str, reporter: Silent | None = None) -> TranslationTask:
    reporter = reporter or Silent()
    recipe = load_recipe("denoise", [*SMALL, f"data.text={text}", *settings])
    assert isinstance(recipe, TranslationRecipe)
    task = KIND.task(recipe, KIND.load_data(recipe, reporter.say), run, reporter)
    assert isinstance(task, TranslationTask)
    return task


def rows(task: TranslationTask, epoch: int) -> dict[str, str]:
    """The restored texts of an epoch, each with what it was damaged to."""
    vocabulary = task.model.vocabularies.source
    found: dict[str, str] = {}
    for batch, after in task.batches(Cursor(epoch, 0)):
        if after.epoch > epoch:
            break
        for source, target in zip(batch.source.tolist(), batch.target.tolist(), strict=True):
            found[vocabulary.decode(target)[0]] = vocabulary.decode(source)[0]
        if len(found) == len(task.examples):
            break
    return found


def test_each_epoch_has_all_texts_damaged_otherwise(text: Path, tmp_path: Path) -> None:
    task, again = (task_of(text, tmp_path / name) for name in ("one", "two"))
    first, second = rows(task, 0), rows(task, 1)
    assert first.keys() == second.keys()
    assert first.keys() | {pair.target for pair in task.valid} == set(TEXTS)
    changed = sum(first[text] != second[text] for text in first)
    assert changed > len(first) * 0.9
    assert rows(again, 1) == second
    assert rows(task_of(text, tmp_path / "three", "train.seed=9"), 1) != second
    words = [word for damaged in first.values() for word in damaged.split()]
    assert MASK in words
    kept = len(words) - words.count(MASK)
    assert 0.6 < kept / sum(len(text.split()) for text in first) < 0.8


def test_texts_for_validation_are_damaged_once_for_all_seeds(text: Path, tmp_path: Path) -> None:
    task, other = (task_of(text, tmp_path / seed, f"train.seed={seed}") for seed in ("1", "2"))
    assert task.valid == other.valid
    assert any(MASK in pair.source for pair in task.valid)
    assert all(MASK not in pair.target for pair in task.valid)
    with_file = task_of(text, tmp_path / "3", f"data.valid_text={text}")
    assert [pair.target for pair in with_file.valid] == TEXTS
    assert len(with_file.examples) == len(TEXTS)


def test_what_befalls_a_text_depends_on_seed_and_index_alone() -> None:
    vocabulary = learn_vocabulary(TEXTS, WORDS, mask=True)
    pairs = [Pair(text, text) for text in TEXTS]

    def damaged(pairs: list[Pair], seed: str) -> list[Pair]:
        return damage_pairs(pairs, vocabulary, NoiseSettings(), max_length=100, seed=seed)

    assert damaged(pairs[:7], "a") == damaged(pairs, "a")[:7]
    assert damaged(pairs, "a") != damaged(pairs, "b")
    # Texts that get longer than the model reads stay as they were.
    tight = damage_pairs(pairs, vocabulary, NoiseSettings(mask_share=0.2, span_length=1), max_length=9, seed="a")
    fits = [len(pair.target.split()) < 9 for pair in pairs]
    assert all(len(pair.source.split()) < 9 for pair, fit in zip(tight, fits, strict=True) if fit)


@pytest.mark.parametrize("kind", ["words", "characters", "subwords"])
def test_overlong_texts_are_cut_and_counted(kind: str) -> None:
    settings = WORDS.model_copy(update={"kind": kind, "size": 60})
    vocabulary = learn_vocabulary(TEXTS, settings, mask=True)
    long = " ".join(TEXTS[:20])
    said: list[str] = []
    most = max(len(vocabulary.encode(text).ids) for text in TEXTS) + 1
    kept = cut_overlong([Pair(text, text) for text in (TEXTS[0], long)], vocabulary, max_length=most, tell=said.append)
    assert kept[0].target == TEXTS[0]
    assert all(len(vocabulary.encode(pair.target).ids) <= most for pair in kept)
    assert " ".join(pair.target for pair in kept[1:]) == long
    (told,) = said
    assert told.startswith(f"1 of 2 texts are longer than model.max_length={most}, and are cut into {len(kept) - 1} pa")


def test_the_task_cuts_what_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "documents.txt"
    path.write_text("".join(f"{' '.join(TEXTS[start : start + 6])}\n" for start in range(0, 36, 6)))
    reporter = Listening()
    task = task_of(path, tmp_path / "run", "model.max_length=15", reporter=reporter)
    assert len(task.examples) > 5
    assert any("texts are longer than model.max_length=15" in text for text in reporter.said)
    assert any(text.startswith(f"{len(task.examples)} texts to train on") for text in reporter.said)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["data.train=pairs.tsv"], "found train and text, wanted either train"),
        (["data.text=null"], "data: wanted either train.*saccade train denoise data.text=FILE"),
        (["data.valid=pairs.tsv"], r"data.*valid: found pairs beside text, wanted text as well: data\.valid_text=FILE"),
        (["data.noise.mask_share=1.5"], r"data\.noise\.mask_share"),
        (["data.noise.span_length=0"], r"data\.noise\.span_length"),
        (
            ["vocabulary.joint=false", "model.tie_embeddings=none"],
            r"vocabulary\.joint: wanted true beside",
        ),
        (["vocabulary.bpe_dropout=0.1", "vocabulary.kind=subwords"], r"vocabulary\.bpe_dropout: wanted 0 beside"),
        (["data.text=[]"], r"data\.text"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_recipe("denoise", settings)


def test_text_that_is_not_there_is_named(tmp_path: Path) -> None:
    recipe: Any = load_recipe("denoise", [f"data.text=[{tmp_path},{tmp_path / 'no.txt'}]"])
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    with pytest.raises(InputError, match=r"no\.txt: no such file or folder; say where yours is: data\.text=FILE"):
        KIND.load_data(recipe, print)
    (tmp_path / "a.txt").write_text("one\n")
    with pytest.raises(InputError, match=r"a\.txt: one text is too few to train and to valid"):
        load_splits(recipe.data.model_copy(update={"text": [str(tmp_path / "a.txt")]}))


def test_a_vocabulary_without_a_mask_is_refused(tmp_path: Path) -> None:
    pairs = [Pair(text, text) for text in TEXTS]
    recipe: Any = load_recipe("denoise", SMALL)
    save_vocabularies(learn_vocabularies(pairs, recipe.vocabulary), recipe.vocabulary, tmp_path / "vocabulary")
    with pytest.raises(InputError, match="the vocabulary has no <mask>"):
        TranslationTask(recipe, Splits(pairs, pairs), tmp_path, Silent())


class Killer(saccade.training.Callback):
    """Ends a training without a word, behind a step that was not saved."""

    def on_step_end(self, step: int, loss: float, model: Any) -> None:
        if step == 23:
            raise KeyError("killed")


def test_a_killed_training_goes_on_bit_for_bit(text: Path, tmp_path: Path) -> None:
    """In the midst of an epoch whose noise is drawn anew."""
    steps = ["train.steps=30", "train.save_every=5", "train.validate_every=15", "model.dropout=0.1"]
    settings = [*SMALL, *steps, f"data.text=[{text}]"]
    for name, callbacks in (("killed", [Killer()]), ("killed", []), ("whole", [])):
        with contextlib.suppress(KeyError):
            saccade.train("denoise", run=tmp_path / name, settings=settings, callbacks=callbacks, reporter=Silent())
    killed, whole = (
        [
            {key: value for key, value in record.items() if key not in {"seconds", "rate"}}
            for record in read_journal(tmp_path / name / "metrics.jsonl")
        ]
        for name in ("killed", "whole")
    )
    assert killed == whole
    model = Path("model") / "model.safetensors"
    assert (tmp_path / "killed" / model).read_bytes() == (tmp_path / "whole" / model).read_bytes()


def test_a_trained_model_fills_in_what_can_be_known(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Behind "red" there is always a fish, and behind "my" a cat."""
    steps = ["train.steps=160", "train.validate_every=160", "train.lr=1e-2", "train.warmup_steps=20"]
    settings = [*SMALL, *steps, "train.select_checkpoint=last", "data.validation_size=5"]
    model = saccade.train(
        "denoise",
        saccade.Translator,
        run=tmp_path / "run",
        settings=[*settings, f"data.text={text}"],
        reporter=Silent(),
    )
    (restored,) = model.translate(["a dog wants red <mask> we laugh ."])
    assert restored.text == "a dog wants red fish . we laugh ."
    (ordered,) = model.translate(["it is far . my <mask> sees the sea ."])
    assert ordered.text == "my cat sees the sea . it is far ."
    assert main(["evaluate", str(tmp_path / "run" / "model"), "--source", str(text), "--reference", str(text)]) == 0
    assert "exact" in capsys.readouterr().out.lower()
