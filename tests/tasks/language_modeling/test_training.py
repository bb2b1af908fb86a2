"""Language models are trained, killed, and go on."""

import math
import os
import random
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

import saccade
from saccade.base.errors import InputError
from saccade.base.shuffling import Cursor
from saccade.cli.main import main
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.language_modeling.data import LanguageSplits, Texts, load_language_splits
from saccade.tasks.language_modeling.made import make_numbers
from saccade.tasks.language_modeling.recipe import LanguageRecipe
from saccade.tasks.language_modeling.training import LanguageTask
from saccade.text import END, START
from saccade.text.packed_rows import ROW_ORDERS, RowOrder
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


@pytest.mark.parametrize("rows", ["packed", "random"])
def test_rows_are_those_of_the_text_on_disk(rows: RowOrder, tmp_path: Path) -> None:
    chance = random.Random(0)
    letters = [Texts(["".join(chance.choices("abcdefghij", k=size)), "abc"]) for size in (3000, 100)]
    task = task_of(f"data.rows={rows}", "train.seed=5", data=LanguageSplits(*letters), run=tmp_path)
    vocabulary = task.model.vocabulary
    stream: list[int] = []
    for text in letters[0].documents:
        stream += [START, *vocabulary.encode_ids(text).tolist(), END]
    folders = [path.parent for path in (tmp_path / "tokens").glob("*/about.json")]
    tokens = {len(found): found for found in (np.load(folder / "tokens.npy") for folder in folders)}
    assert tokens[3007].tolist() == stream
    assert len(tokens[107]) == 107
    wanted = ROW_ORDERS[rows](np.array(stream), context=16, batch_size=4, seed=5, documents=2).stream(Cursor(1, 2))
    batches = list(islice(task.batches(Cursor(1, 2)), 60))
    for (found, after), (expected, cursor) in zip(batches, wanted, strict=False):
        assert after == cursor
        assert found.inputs.tolist() == expected.inputs.tolist()
        assert found.targets.tolist() == expected.targets.tolist()
    batch, net = batches[0][0], task.model.net.eval()
    loss, count = task.loss(batch)
    logits = net.output(net(None, batch.inputs).features)
    each = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=0)
    assert float(loss.detach()) / count == pytest.approx(float(each.detach()), rel=1e-4)


def test_text_of_an_earlier_attempt_does_not_stay(tmp_path: Path) -> None:
    """Only arrays are taken away, and nobody else's."""
    task_of(run=tmp_path)
    first = {path.name for path in (tmp_path / "tokens").iterdir()}
    mine = tmp_path / "tokens" / "0123456789abcdef"
    mine.mkdir()
    (mine / "mine.txt").write_text("mine")
    (tmp_path / "tokens" / "notes.txt").write_text("mine")
    task_of(run=tmp_path)
    assert {path.name for path in (tmp_path / "tokens").iterdir()} == {*first, mine.name, "notes.txt"}
    task_of("data.seed=1", run=tmp_path)
    second = {path.name for path in (tmp_path / "tokens").iterdir()}
    assert len(second) == 4
    assert second & {*first, mine.name, "notes.txt"} == {mine.name, "notes.txt"}
    assert (mine / "mine.txt").read_text() == "mine"


def test_validation_is_of_all_of_the_text(tmp_path: Path) -> None:
    task = task_of(run=tmp_path)
    text = "".join(piece.text for piece in task_valid(task).pieces())
    task.net.eval()
    figures = task.validate()
    tokens = len(text) + 1  # and the end
    (scored,) = task.model.score([text], sliding=False)
    assert figures["loss"] * tokens == pytest.approx(-scored.log_prob, abs=12)
    assert figures["perplexity"] == pytest.approx(math.exp(figures["loss"]))
    assert figures["bits_per_character"] == pytest.approx(figures["loss"] / math.log(2) * tokens / len(text))


@pytest.mark.parametrize("monitor", ["loss", "perplexity", "bits_per_character"])
def test_what_is_monitored_is_better_when_lower(monitor: str, tmp_path: Path) -> None:
    settings = ["train.steps=6", "train.validate_every=2", "train.lr=1e-2", f"train.monitor={monitor}"]
    words = ["train", *SMALL["gpt"], *COMMON, *settings, "--run", str(tmp_path)]
    assert main(words) == 0
    records = [record for record in read_journal(tmp_path / "metrics.jsonl") if "valid" in record]
    values = [record["valid"][monitor] for record in records]
    assert values[-1] == min(values) < max(values)  # so it is still getting better
    (last,) = [record["model"] for record in read_journal(tmp_path / "metrics.jsonl") if "model" in record]
    assert last[monitor] == pytest.approx(values[-1])


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
        (["train.monitor=bleu"], "train.monitor: found 'bleu', wanted one of loss, perplexity, bits_per_character"),
        (["data.rows=shuffled"], "data.rows"),
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
    with pytest.raises(InputError, match=r"data: 5 tokens to learn from, wanted more than model.max_length=16"):
        task_of(data=short, run=tmp_path / "run")
    with pytest.raises(InputError, match=r"^document 2: found half a character in it"):
        Texts(["abc", "d\ud800f"])
