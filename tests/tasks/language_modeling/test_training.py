"""Language models are trained, killed, and go on."""

import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import saccade
from saccade.base.errors import InputError
from saccade.base.order import Cursor
from saccade.cli.main import main
from saccade.tasks.language_modeling.data import LanguageSplits, Texts, load_language_splits, read_tokens
from saccade.tasks.language_modeling.made import make_numbers
from saccade.tasks.language_modeling.recipe import LanguageRecipe
from saccade.tasks.language_modeling.training import LanguageTask
from saccade.tasks.recipes import load_recipe
from saccade.text import END
from saccade.text.vocabularies.running import RunningCharacters
from saccade.training import Silent, read_journal

SMALL = {
    "gpt": ["gpt", "model.layers=1", "model.dim=16", "model.heads=2", "model.feed_forward=16", "model.dropout=0.1"],
    "char-rnn": ["char-rnn", "model.layers=1", "model.dim=16", "model.embedding=8", "model.score=additive"],
}
COMMON = [
    "data.lines=100",
    "model.max_length=16",
    "train.batch_size=4",
    "train.steps=60",
    "train.save_every=3",
    "train.validate_every=20",
    "train.log_every=2",
    "train.warmup_steps=5",
    "train.threads=1",
    "train.tensorboard=false",
]


def task_of(*settings: str, data: LanguageSplits | None = None, run: Path) -> LanguageTask:
    recipe = load_recipe("gpt", [*SMALL["gpt"][1:], *COMMON, *settings])
    assert isinstance(recipe, LanguageRecipe)
    return LanguageTask(recipe, load_language_splits(recipe.data) if data is None else data, run, Silent())


def test_made_numbers_have_their_names() -> None:
    lines = make_numbers(500, seed=1).splitlines()
    assert len(lines) == 500
    assert "7 seven" in lines
    assert make_numbers(500, seed=1) == "\n".join([*lines, ""]) != make_numbers(500, seed=2)


@pytest.mark.parametrize("name", ["book.txt", "books", "books.jsonl"])
def test_the_last_tenth_of_a_text_validates(name: str, tmp_path: Path) -> None:
    text = "".join(f"{number}\n" for number in range(1000))
    path = tmp_path / name
    if name == "books":
        path.mkdir()
        (path / "one.txt").write_text(text)
    else:
        escaped = text.replace("\n", "\\n")
        path.write_text(f'{{"text": "{escaped}"}}\n' if name.endswith("jsonl") else text)
    recipe = load_recipe("gpt", [f"data.text={path}"])
    assert isinstance(recipe, LanguageRecipe)
    train, valid = load_language_splits(recipe.data)
    cut = int(len(text) * 0.9)
    assert "".join(piece.text for piece in train.pieces()) == text[:cut]
    assert "".join(piece.text for piece in valid.pieces()) == text[cut:]
    other = tmp_path / "other.txt"
    other.write_text("x")
    recipe = load_recipe("gpt", [f"data.text={path}", f"data.valid={other}"])
    assert isinstance(recipe, LanguageRecipe)
    train, valid = load_language_splits(recipe.data)
    assert (len(train), len(valid)) == (len(text), 1)


def test_documents_end() -> None:
    vocabulary = RunningCharacters("ab")
    a, b = vocabulary.encode_ids("ab").tolist()
    assert read_tokens(Texts(["ab", "b"]), vocabulary).tolist() == [a, b, END, b, END]


def test_an_epoch_shows_the_text_once_and_the_next_cuts_it_elsewhere(tmp_path: Path) -> None:
    chance = random.Random(0)
    letters = Texts(["".join(chance.choices("abcdefghij", k=3000))])
    task = task_of("train.batch_size=1", data=LanguageSplits(letters, letters), run=tmp_path)
    text = read_tokens(letters, task.model.vocabulary)
    rows = (len(text) - 1) // 16
    batches = iter(task.batches(Cursor()))
    starts: list[list[int]] = []
    for _ in range(2):
        found = [next(batches)[0][0] for _ in range(rows)]
        where = [starts_of(row, text) for row in found]
        assert all(len(one) == 1 for one in where)  # 16 of these letters stand in one place
        starts.append(sorted(one[0] for one in where))
        assert len({begin // 16 for begin in starts[-1]}) == len(found)
        assert {begin % 16 for begin in starts[-1]} == {starts[-1][0] % 16}
    assert starts[0][0] != starts[1][0]
    _, after = next(iter(task.batches(Cursor(epoch=1, batch=2))))
    assert after == Cursor(1, 3)


def starts_of(row: np.ndarray, text: np.ndarray) -> list[int]:
    places = np.lib.stride_tricks.sliding_window_view(text, len(row))
    return np.nonzero((places == row).all(1))[0].tolist()


def test_validation_is_of_all_of_the_text(tmp_path: Path) -> None:
    task = task_of(run=tmp_path)
    text = "".join(piece.text for piece in task_valid(task).pieces())
    task.net.eval()
    figures = task.validate()
    tokens = read_tokens(task_valid(task), task.model.vocabulary)
    (scored,) = task.model.score([text], sliding=False)
    assert len(tokens) == len(text) + 1  # and the end
    assert figures["loss"] * len(tokens) == pytest.approx(-scored.log_prob, abs=12)
    assert figures["perplexity"] == pytest.approx(math.exp(figures["loss"]))
    assert figures["bits_per_character"] == pytest.approx(figures["loss"] / math.log(2) * len(tokens) / len(text))


def task_valid(task: LanguageTask) -> Texts:
    splits = load_language_splits(task.recipe.data)
    assert isinstance(splits.valid, Texts)
    return splits.valid


@pytest.mark.parametrize("name", list(SMALL))
def test_kills_change_nothing(name: str, tmp_path: Path) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    words = ["train", *SMALL[name], *COMMON, "--run"]
    assert main([*words, str(undisturbed)]) == 0
    killed = 0
    for step in (5, 23):
        command = [sys.executable, "-m", "saccade.cli.main", *words, str(disturbed)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as training:  # noqa: S603
            while training.poll() is None and step_of(disturbed) < step:
                time.sleep(0.005)
            if training.poll() is None:
                os.kill(training.pid, signal.SIGKILL)
                killed += 1
    assert killed
    assert main([*words, str(disturbed)]) == 0
    model = Path("model") / "model.safetensors"
    assert (disturbed / model).read_bytes() == (undisturbed / model).read_bytes()
    journals = [
        [
            {key: value for key, value in record.items() if key not in {"seconds", "rate"}}
            for record in read_journal(run / "metrics.jsonl")
        ]
        for run in (undisturbed, disturbed)
    ]
    assert journals[0] == journals[1]


def step_of(run: Path) -> int:
    path = run / "metrics.jsonl"
    return max((record["step"] for record in read_journal(path)), default=0) if path.exists() else 0


@pytest.mark.parametrize(
    "settings",
    [
        ["gpt"],
        ["gpt", "model.positions=rotary", "model.tie_embeddings=none"],
        ["char-rnn", "model.cell=gru"],
        ["char-rnn", "model.score=scaled-dot", "model.window=8"],
    ],
    ids=" ".join,
)
def test_it_learns_a_text_by_heart(settings: list[str], tmp_path: Path) -> None:
    text = "the quick brown fox jumps over the lazy dog.\n" * 30
    recipe, *others = settings
    sizes = ["model.layers=1", "model.dim=32", "train.lr=1e-2", "train.steps=250", "train.warmup_steps=10"]
    sizes += ["model.heads=2", "model.feed_forward=64"] if recipe == "gpt" else ["model.embedding=16"]
    model = saccade.train(
        recipe,
        saccade.LanguageModel,
        run=tmp_path / "run",
        data=LanguageSplits(Texts([text]), Texts([text[:200]])),
        settings=[*others, *sizes, "train.batch_size=4", "train.tensorboard=false", "train.threads=1"],
        reporter=Silent(),
    )
    (found,) = model.generate(["the quick"], tokens=35, temperature=0)
    assert found.prompt + found.text == "the quick brown fox jumps over the lazy dog.\n"[: 9 + 35]
    loaded = saccade.load(tmp_path / "run" / "model", saccade.LanguageModel)
    assert loaded.generate(["the quick"], tokens=35, temperature=0) == [found]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["data.make=null"], "wanted either text, such as data.text=book.txt, or make"),
        (["data.valid=a.txt"], "valid: found some beside made text"),
        (["model.max_length=100000"], "max_length"),
        (["train.monitor=perplexity"], "train.monitor: found 'perplexity', wanted one of loss"),
        (["model.positions=rotary", "model.heads=128"], "dim / heads"),
    ],
)
def test_settings_that_cannot_be(words: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_recipe("gpt", words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["model.window=3"], "window: found 3, wanted null"),
        (
            ["model.tie_embeddings=output", "model.dim=64"],
            "tie_embeddings: output wants embedding and dim to be equal, found 128 and 64",
        ),
        (["model.score=location", "model.max_length=513"], "max_length: found 513, wanted at most 512"),
        (["model.score=mean"], "found 'mean', wanted one of none"),
    ],
)
def test_settings_of_recurrent_nets_that_cannot_be(words: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_recipe("char-rnn", words)


def test_data_that_is_not_there_or_too_short(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.txt: no such file or folder; say where yours is"):
        saccade.train("gpt", run=tmp_path / "run", settings=["data.text=nowhere.txt"], reporter=Silent())
    assert not (tmp_path / "run").exists()
    short = LanguageSplits(Texts(["abc"]), Texts(["abc"]))
    with pytest.raises(InputError, match=r"data: 4 tokens to learn from, wanted more than model.max_length=16"):
        task_of(data=short, run=tmp_path / "run")
