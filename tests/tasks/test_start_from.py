"""A training that starts from another model: what is taken over, what is new, what is refused, and going on."""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import saccade
from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.tasks.classification.model import Classifier
from saccade.tasks.language_modeling.data import LanguageSplits, Texts
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.text_classification.data import LabelledTexts
from saccade.tasks.text_classification.labelled import LabelledText
from saccade.tasks.text_classification.model import TextClassifier
from saccade.tasks.translation.data import Splits
from saccade.tasks.translation.model import Translator
from saccade.text import Pair
from saccade.training import Callback, Silent
from soak.tiny import RECIPES, training
from tests.tasks.makers import small_recipe

SMALL: dict[str, Any] = {
    "train.steps": 4,
    "train.validate_every": 2,
    "train.save_every": 2,
    "train.warmup_steps": 0,
    "train.threads": 1,
    "train.tensorboard": False,
}
GPT: dict[str, Any] = SMALL | {
    "model.layers": 2,
    "model.dim": 8,
    "model.heads": 2,
    "model.feed_forward": 12,
    "model.max_length": 16,
}
AS_GPT: dict[str, Any] = GPT | {"model.positions": "learned", "model.activation": "gelu", "train.batch_tokens": 64}
STILL: dict[str, Any] = {"train.optimizer": "sgd", "train.lr": 1e-9, "train.weight_decay": 0.0}  # nothing is learnt
OLD = ["the old song was long", "a long day and a song", "the day was old"]
NEW = ["quiet waters run deep", "a quiet day", "deep and quiet was the old song"]
PAIRS = [Pair(text, text[::-1]) for text in OLD] * 2
OTHER_PAIRS = [Pair(text, text[::-1]) for text in NEW] * 2


class Said(Silent):
    """Remembers what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)

    @property
    def started(self) -> str:
        return next(line for line in self.lines if line.startswith("started from"))


class Killed(Exception):  # noqa: N818 - nothing went wrong
    """The end of a training that nobody asked for."""


class Kill(Callback):
    """Ends a training between two checkpoints."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, step: int, loss: float, model: Any) -> None:
        if step == self.step:
            raise Killed


def texts(lines: list[str]) -> LanguageSplits:
    return LanguageSplits(Texts(["\n".join(lines * 8)]), Texts(["\n".join(lines)]))


def language_model(run: Path, lines: list[str], *said: Said, **settings: Any) -> LanguageModel:
    settings = GPT | settings
    return saccade.train(
        "gpt", LanguageModel, run=run, data=texts(lines), settings=settings, reporter=said[0] if said else Silent()
    )


def translator(run: Path, pairs: list[Pair], *said: Said, callbacks: Any = (), **settings: Any) -> Translator:
    (reporter,) = said or (Silent(),)
    how = {"settings": AS_GPT | settings, "data": Splits(pairs, pairs[:3]), "callbacks": callbacks}
    return saccade.train("numbers", Translator, run=run, reporter=reporter, **how)


def tensors(model: Any) -> dict[str, Tensor]:
    return dict(model.net.state_dict())


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model's run."""
    run = tmp_path_factory.mktemp("start") / "lm"
    language_model(run, OLD)
    return run


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator's run, over words."""
    run = tmp_path_factory.mktemp("start") / "words"
    translator(run, PAIRS, **{"vocabulary.kind": "words"})
    return run


@pytest.mark.parametrize("task", RECIPES)
def test_every_task_starts_from_itself(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = training(RECIPES[task], tmp_path)
    command[command.index("--run") :] = ["train.steps=2", "train.select_checkpoint=last"]
    assert main([*command, "--run", str(tmp_path / "first")]) == 0
    still = [f"{name}={value}" for name, value in STILL.items()]
    assert main([*command, *still, f"train.start_from={tmp_path / 'first'}", "--run", str(tmp_path / "second")]) == 0
    assert "; nothing is new; nothing is left out" in capsys.readouterr().err
    first, second = (saccade.load(tmp_path / name).net for name in ("first", "second"))
    for (name, one), (_, other) in zip(first.named_parameters(), second.named_parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5, msg=name)


def test_a_language_model_of_another_text_with_a_grown_vocabulary(start: Path, tmp_path: Path) -> None:
    said = Said()
    how = STILL | {"train.start_from": start, "train.grow_vocabulary": True}
    old, new = saccade.load(start, LanguageModel), language_model(tmp_path / "run", NEW, said, **how)
    lacking = set("".join(NEW)) - set("".join(OLD))
    assert len(new.vocabulary) == len(old.vocabulary) + len(lacking)
    text = "a song was old"
    assert new.vocabulary.encode_ids(text).tolist() == old.vocabulary.encode_ids(text).tolist()
    assert "with new rows: tokens.embedding; nothing is new; nothing is left out" in said.started
    for name, tensor in tensors(old).items():
        torch.testing.assert_close(tensors(new)[name][: len(tensor)], tensor, rtol=0, atol=1e-5)
    assert not new.read("quiet deep", "here").note  # nothing is unknown


def test_the_vocabulary_stays_as_it_is_if_it_is_not_to_grow(start: Path, tmp_path: Path) -> None:
    said = Said()
    new = language_model(tmp_path / "run", NEW, said, **{"train.start_from": start / "model"})
    learnt = "\n".join(NEW * 8)
    unknown = sum(letter not in "\n".join(OLD) for letter in learnt)
    wanted = f"{unknown} of {len(learnt) + 2} tokens to learn from are not in the vocabulary"  # with a start and an end
    assert any(line.startswith(wanted) for line in said.lines)
    assert (tmp_path / "run/vocabulary/text.txt").read_bytes() == (start / "model/text.txt").read_bytes()
    assert new.read("quiet", "here").note == "3 of 5 tokens are not in the vocabulary"


def test_a_translator_of_other_words(words: Path, tmp_path: Path) -> None:
    said = Said()
    how = STILL | {"vocabulary.kind": "words", "train.start_from": words, "train.grow_vocabulary": True}
    old, new = saccade.load(words, Translator), translator(tmp_path / "run", OTHER_PAIRS, said, **how)
    count = len(old.vocabularies.source)
    more = {word for text in NEW for word in text.split()} - {word for text in OLD for word in text.split()}
    assert len(new.vocabularies.source) == count + len(more)
    assert new.vocabularies.source.encode(OLD[0]) == old.vocabularies.source.encode(OLD[0])
    assert f"vocabulary: {len(more)} entries come to the {count} of" in "\n".join(said.lines)
    for name, tensor in tensors(old).items():
        torch.testing.assert_close(tensors(new)[name][: len(tensor)], tensor, rtol=0, atol=1e-5)


def test_new_rows_are_drawn_as_those_of_a_net_that_starts_from_nothing(words: Path, tmp_path: Path) -> None:
    how = STILL | {"vocabulary.kind": "words", "train.start_from": words, "train.grow_vocabulary": True}
    one = tensors(translator(tmp_path / "one", OTHER_PAIRS, **how))["encoder.tokens.embedding.weight"]
    other = tensors(translator(tmp_path / "other", OTHER_PAIRS, **how, **{"train.seed": 2}))
    count = len(saccade.load(words, Translator).vocabularies.source)
    rows = other["encoder.tokens.embedding.weight"]
    assert not torch.equal(one[count:], rows[count:])
    assert 0.1 < one[count:].std() / one[:count].std() < 10


@pytest.mark.parametrize("joint", [False, True])
def test_a_language_model_becomes_the_decoder_of_a_translator(joint: bool, start: Path, tmp_path: Path) -> None:  # noqa: FBT001
    said = Said()
    how = {"vocabulary.kind": "characters", "vocabulary.joint": joint, "model.max_length": 24}
    with pytest.raises(InputError) as error:
        translator(tmp_path / "long", PAIRS, **how, **{"train.start_from": start})
    assert str(error.value).endswith(
        "tokens.positions.table is [16, 8] there and [24, 8] here; what differs: model.max_length: 16 there, 24 here"
    )
    pairs = [Pair(word, word[::-1]) for text in OLD for word in text.split()]
    how |= STILL | {"model.max_length": 16, "train.start_from": start}
    old, new = saccade.load(start, LanguageModel), translator(tmp_path / "run", pairs, said, **how)
    assert new.vocabularies.target.content() == old.vocabulary.content()
    assert new.vocabularies.joint == joint
    for name, tensor in tensors(old).items():
        torch.testing.assert_close(tensors(new)[f"decoder.{name}"], tensor, rtol=0, atol=1e-5)
    assert "new: decoder.layers.*.cross_attention, decoder.layers.*.cross_attention_residual, encoder;" in said.started


def test_the_subwords_of_a_language_model_read_sentences_in_a_translator(tmp_path: Path) -> None:
    """A word of a sentence has the numbers that it has within running text, where a space stands before it."""
    subwords = {"vocabulary.kind": "subwords", "vocabulary.size": 290}
    old = language_model(tmp_path / "lm", OLD, **subwords)
    how = subwords | {"vocabulary.method": "bpe", "vocabulary.size": 40, "train.start_from": tmp_path / "lm"}
    pairs = [Pair(text, other) for text, other in pairwise(OLD)]
    new = translator(tmp_path / "run", pairs, **how, **{"model.max_length": 16})
    *ids, _ = new.vocabularies.target.encode("the old song").ids
    assert ids == old.vocabulary.encode_ids(" the old song").tolist()
    assert new.vocabularies.target.text(ids) == "the old song"


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_recurrent_language_model_becomes_a_decoder(cell: str, tmp_path: Path) -> None:
    net = {"model.cell": cell, "model.dim": 8, "model.embedding": 6, "model.layers": 2}
    old = saccade.train(
        "char-rnn", LanguageModel, run=tmp_path / "lm", data=texts(OLD), settings=SMALL | net, reporter=Silent()
    )
    said = Said()
    how = SMALL | STILL | net | {"model.order": "luong", "vocabulary.kind": "characters"}
    new = saccade.train(
        "dates",
        Translator,
        run=tmp_path / "run",
        data=Splits(PAIRS, PAIRS[:2]),
        settings=how | {"train.start_from": tmp_path / "lm"},
        reporter=said,
    )
    for part in ("embedding", "rnn", "output"):
        for name, tensor in tensors(old).items():
            if name.startswith(f"{part}."):
                torch.testing.assert_close(tensors(new)[f"decoder.{name}"], tensor, rtol=0, atol=1e-5)
    assert "new: decoder.bridges, decoder.context, decoder.readout, encoder; left out: readout" in said.started


def test_a_language_model_becomes_the_reader_of_a_text_classifier(start: Path, tmp_path: Path) -> None:
    labelled = [LabelledText(text, "old" if "old" in text else "new") for text in (*OLD, *NEW)]
    said = Said()
    how = {name: value for name, value in GPT.items() if name != "train.warmup_steps"} | STILL
    new = saccade.train(
        "labels",
        TextClassifier,
        run=tmp_path / "run",
        data=LabelledTexts(labelled, labelled),
        settings=how | {"model.kind": "transformer", "vocabulary.kind": "characters", "train.start_from": start},
        reporter=said,
    )
    for name, tensor in tensors(saccade.load(start, LanguageModel)).items():
        if not name.startswith("output"):
            torch.testing.assert_close(tensors(new)[f"decoder.{name}"], tensor, rtol=0, atol=1e-5)
    assert "; new: labels, pooling; " in said.started


def test_classes_are_taken_over_by_name(tmp_path: Path) -> None:
    def folder(name: str, classes: list[str]) -> Path:
        for one, digit in zip(classes, sorted((tmp_path / "digits").iterdir()), strict=False):
            shutil.copytree(digit, tmp_path / name / one)
        return tmp_path / name

    training(RECIPES["line_reading"], tmp_path)  # which writes digits
    small = ["classes", "data.make=null", "data.validation_size=2", "model.image_size=16", "model.channels=[4,8]"]
    small += ["train.batch_size=4", "train.steps=2", "train.warmup_steps=0", "train.tensorboard=false"]
    still = [f"{name}={value}" for name, value in STILL.items()]
    first, second = folder("first", ["ape", "bee", "cat"]), folder("second", ["bee", "cat", "dog", "eel"])
    assert main(["train", *small, f"data.train={first}", "--run", str(tmp_path / "one")]) == 0
    more = [f"data.train={second}", f"train.start_from={tmp_path / 'one'}", "--run", str(tmp_path / "two")]
    assert main(["train", *small, *still, *more]) == 0
    one, two = (tensors(saccade.load(tmp_path / name, Classifier))["classes.weight"] for name in ("one", "two"))
    torch.testing.assert_close(two[:2], one[1:], rtol=0, atol=1e-5)
    assert len(two) == 4


def test_a_killed_training_goes_on_bit_for_bit_without_its_start(start: Path, tmp_path: Path) -> None:
    pairs = [Pair(word, word[::-1]) for text in OLD for word in text.split()]
    shutil.copytree(start, tmp_path / "lm")
    how = {
        "vocabulary.kind": "characters",
        "train.start_from": tmp_path / "lm",
        "train.new_lr": 1e-2,
        "train.freeze": ["decoder.layers.0"],
        "train.unfreeze_at": 3,
        "train.steps": 8,
        "train.grow_vocabulary": True,
    }
    translator(tmp_path / "whole", pairs, **how)
    with pytest.raises(Killed):
        translator(tmp_path / "run", pairs, callbacks=[Kill(5)], **how)
    shutil.rmtree(tmp_path / "lm")
    said = Said()
    saccade.train(run=tmp_path / "run", data=Splits(pairs, pairs[:3]), reporter=said)
    assert "going on after step 4" in said.lines
    for name in ("model/model.safetensors", "best.safetensors"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    translator(tmp_path / "other", pairs, **how | {"train.start_from": start, "train.new_lr": 1e-3})
    assert (tmp_path / "other/model/model.safetensors").read_bytes() != (
        tmp_path / "whole/model/model.safetensors"
    ).read_bytes()


def test_a_training_that_was_begun_cannot_start_from_elsewhere(start: Path, tmp_path: Path) -> None:
    language_model(tmp_path / "run", OLD, **{"train.start_from": start})
    for changed in (
        {"train.start_from": start / "model"},
        {},
        {"train.start_from": start, "train.grow_vocabulary": True},
    ):
        with pytest.raises(InputError, match=r"was begun with other settings: train\.(start_from|grow_vocabulary): "):
            language_model(tmp_path / "run", OLD, **changed)


def test_a_training_that_was_killed_before_its_first_checkpoint_starts_anew(start: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        saccade.train(
            "gpt",
            run=tmp_path / "run",
            data=texts(NEW),
            settings=GPT | {"train.start_from": start, "train.grow_vocabulary": True},
            callbacks=[Kill(1)],
            reporter=Silent(),
        )
    said = Said()
    how = {"train.start_from": start, "train.grow_vocabulary": True}
    again = language_model(tmp_path / "run", NEW, said, **how)
    assert tensors(again).keys() == tensors(language_model(tmp_path / "whole", NEW, **how)).keys()
    assert said.started
    assert (tmp_path / "run/model/model.safetensors").read_bytes() == (
        tmp_path / "whole/model/model.safetensors"
    ).read_bytes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"model.dim": 16},
            "tokens.embedding.weight is [18, 8] there and [18, 16] here; what differs: model.dim: ",
        ),
        ({"model.heads": 4}, "model.heads is 2 there and 4 here; to start from it, say model.heads=2"),
        ({"model.norm": "post"}, "model.norm is pre there and post here; to start from it, say model.norm=pre"),
        ({"vocabulary.kind": "words"}, "vocabulary.kind is characters there and words here; to start from it, say voc"),
    ],
)
def test_what_does_not_fit_is_refused(settings: dict[str, Any], message: str, start: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        language_model(tmp_path / "run", OLD, **settings, **{"train.start_from": start})
    assert f"train.start_from: {start / 'model'}: {message}" in str(error.value)
    assert "\n" not in str(error.value)


def test_other_nets_and_other_tasks_are_refused(start: Path, words: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        saccade.train("char-rnn", run=tmp_path / "run", data=texts(OLD), settings={"train.start_from": str(start)})
    assert "model.kind is transformer there and rnn here" in str(error.value)
    with pytest.raises(InputError) as error:
        language_model(tmp_path / "run", OLD, **{"train.start_from": words})
    wanted = f"{words / 'model'} is a model of translation, wanted one of language_modeling to start language_modeling"
    assert wanted in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_vocabulary_over_the_words_of_running_text_cannot_read_sentences(tmp_path: Path) -> None:
    language_model(tmp_path / "lm", OLD, **{"vocabulary.kind": "words"})
    with pytest.raises(InputError, match=r"the words of a running text have their spaces"):
        translator(tmp_path / "run", PAIRS, **{"vocabulary.kind": "words", "train.start_from": tmp_path / "lm"})


def test_damaged_and_foreign_folders_get_one_line(
    start: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(start / "model", tmp_path / "damaged")
    weights = tmp_path / "damaged/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8] + b"\0" * 8)
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/pytorch_model.bin").write_bytes(b"\x80\x02}.")
    shutil.copytree(start, tmp_path / "begun")
    shutil.rmtree(tmp_path / "begun/model")
    book = tmp_path / "book.txt"
    book.write_text("\n".join(OLD * 20))
    for name, message in {
        "damaged": "model.safetensors: damaged, its numbers are not as they were written",
        "foreign": "no config.yaml and no model.safetensors there",
        "begun": "this training has no model yet",
        "nowhere": "no such folder; a model is the folder that `saccade train` ends with",
    }.items():
        command = ["train", "gpt", "data.make=null", f"data.text={book}", f"train.start_from={tmp_path / name}"]
        command += [f"{key}={value}" for key, value in GPT.items() if key.startswith("model.")]
        assert main([*command, "--run", str(tmp_path / "run")]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"saccade: train.start_from: {tmp_path / name}")
        assert message in line
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"grow_vocabulary": True}, "grow_vocabulary: it is for a model that is started from"),
        ({"new_lr": 1e-2}, "new_lr: it is for a model that is started from"),
        ({"lora": {}}, "lora: it is for a model that is started from"),
        ({"unfreeze_at": 7}, "unfreeze_at: nothing is frozen"),
        ({"start_from": "x", "lora": {}, "freeze": ["encoder"]}, "freeze: with lora, all is frozen"),
    ],
)
def test_settings_that_want_others(settings: dict[str, Any], message: str) -> None:
    model = {"kind": "rnn", "dim": 8, "embedding": 4}
    with pytest.raises(InputError, match=message):
        small_recipe(model, **settings)
