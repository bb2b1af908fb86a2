"""Lines of digits, read by CTC and by attention."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import saccade
from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.cli.main import main
from saccade.metrics import edit_distance
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.line_reading.data import LineSplits, load_line_splits
from saccade.tasks.line_reading.kind import KIND
from saccade.tasks.line_reading.lines import make_lines
from saccade.tasks.line_reading.model import LineReader
from saccade.tasks.line_reading.recipe import LineRecipe
from saccade.tasks.line_reading.training import LineTask
from saccade.training import Silent, train
from saccade.vision import as_png, make_digits, read_strip

DIGITS = make_digits(200, seed=0, side=16)


def recipe_of(kind: str, **settings: Any) -> LineRecipe:
    usual = {"steps": 4, "batch_size": 16, "lr": 5e-3, "warmup_steps": 10, "schedule": "cosine", "tensorboard": False}
    values = {
        "task": "line_reading",
        "data": {"lines": 500, "validation_size": 60, "min_length": 1, "max_length": 3},
        "model": {"kind": kind, "height": 16, "width": 48, "dim": 32, "dropout": 0.0},
        "train": usual | settings,
    }
    return check_settings(LineRecipe, values, where="small")


def learn(recipe: LineRecipe, run: Path, splits: LineSplits | None = None) -> tuple[LineTask, dict[str, float]]:
    splits = splits or load_line_splits(recipe.data, side=recipe.model.height)
    task = LineTask(recipe, splits, run, Silent())
    return task, train(task, recipe.train, run, Silent())


def easy_lines() -> LineSplits:
    """Lines of three digits that hardly anybody mistakes for each other."""
    easy = DIGITS.select(np.flatnonzero(np.isin(DIGITS.labels, [0, 1, 7])))
    return LineSplits(
        make_lines(600, easy, seed=1, min_length=1, max_length=3),
        make_lines(60, easy, seed=2, min_length=1, max_length=3),
    )


def test_lines_have_their_digits_in_order():
    lines = make_lines(30, DIGITS, seed=1, min_length=2, max_length=4)
    assert lines.pixels.shape == (30, 16, 64)
    assert {len(text) for text in lines.texts} == {2, 3, 4}
    alone = make_lines(20, DIGITS, seed=2, min_length=1, max_length=1)
    for pixels, text in zip(alone.pixels, alone.texts, strict=True):  # one digit, as it was
        same = (DIGITS.pixels[..., 0] == pixels).all((1, 2))
        assert text in {DIGITS.classes[label] for label in DIGITS.labels[same]}
    again = make_lines(30, DIGITS, seed=1, min_length=2, max_length=4)
    assert (again.pixels == lines.pixels).all()


def test_ctc_learns_and_knows_where_each_digit_is(tmp_path: Path):
    task, figures = learn(recipe_of("ctc", steps=300, batch_size=8, validate_every=300), tmp_path, easy_lines())
    assert figures["exact_match"] > 60
    lines = task.splits.valid
    found = task.model.read_strips(lines.pixels[:20], attention=True)
    for line, text in zip(found, lines.texts, strict=False):
        assert line.attention is not None
        assert len(line.letters) == len(line.text)
        assert line.attention.shape == (1, 1, len(line.text), 12)
        np.testing.assert_array_less(line.attention.sum(2), 1 + 1e-4)  # a column writes at most one letter
        peaks = line.attention[0, 0].argmax(1).tolist()
        if line.text == text:
            assert peaks == sorted(peaks)  # letters stand in order


def test_attention_learns_too(tmp_path: Path):
    task, figures = learn(recipe_of("attention", steps=250, validate_every=250), tmp_path, easy_lines())
    assert figures["exact_match"] > 60
    (line,) = task.model.read_strips(task.splits.valid.pixels[:1], attention=True)
    assert line.attention is not None
    assert line.attention.shape == (1, 1, len(line.letters), 12)
    np.testing.assert_allclose(line.attention.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", ["ctc", "attention"])
def test_a_reader_is_saved_and_reads_the_same(kind: str, tmp_path: Path):
    task, _ = learn(recipe_of(kind), tmp_path)
    strips = task.splits.valid.pixels[:5]
    loaded = saccade.load(tmp_path / "model", LineReader)
    together = task.model.read_strips(strips, attention=True)
    assert all(line.attention is None for line in task.model.read_strips(strips))
    for strip, one in zip(strips, together, strict=True):
        (alone,) = loaded.read([as_png(strip)], attention=True)
        assert alone.text == one.text
        assert alone.attention is not None
        assert one.attention is not None
        np.testing.assert_allclose(alone.attention, one.attention, atol=1e-5)


def test_digits_that_cannot_be_read_are_told_of(tmp_path: Path):
    """Folders of digits, one for each, serve as well as MNIST's file."""
    for label in ("3", "4"):
        (tmp_path / label).mkdir()
        (tmp_path / label / "good.png").write_bytes(as_png(DIGITS.pixels[0]))
    (tmp_path / "4" / "bad.png").write_bytes(b"no image")
    data = {
        "train": str(tmp_path),
        "valid": str(tmp_path),
        "lines": 20,
        "validation_size": 5,
        "min_length": 1,
        "max_length": 3,
    }
    recipe = check_settings(LineRecipe, recipe_of("ctc").model_dump() | {"data": data}, where="folders")
    said: list[str] = []
    splits = KIND.load_data(recipe, said.append)
    assert {letter for text in splits.train.texts for letter in text} == {"3", "4"}
    assert len(said) == 2
    assert all(text.startswith(f"{tmp_path}: 1 of 3 images are left out; {tmp_path}/4/bad.png: ") for text in said)


def test_a_strip_keeps_its_proportions(tmp_path: Path):
    strip = make_lines(1, DIGITS, seed=3, max_length=2).pixels[0]
    large = np.kron(strip, np.ones((2, 2), dtype=np.uint8))
    found = read_strip(as_png(large), height=16, width=48)
    assert found.shape == (16, 48)
    assert not found[:, 32:].any()
    assert np.abs(found[:, :32].astype(int) - strip).mean() < 12


def test_commands_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for kind in ("ctc", "attention"):
        learn(recipe_of(kind), tmp_path / kind)
    ctc, attention = (str(tmp_path / kind / "model") for kind in ("ctc", "attention"))
    lines = make_lines(4, DIGITS, seed=4, min_length=1, max_length=3)
    for number, pixels in enumerate(lines.pixels):
        (tmp_path / f"{number}.png").write_bytes(as_png(pixels))
    records = [json.dumps({"image": f"{n}.png", "caption": text}) for n, text in enumerate(lines.texts)]
    (tmp_path / "texts.jsonl").write_text("\n".join(records))
    image, page = str(tmp_path / "0.png"), tmp_path / "page.html"
    assert main(["read", attention, image, "--compare", ctc, "--json", "--html", str(page)]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["model"] for one in found] == [attention, ctc]
    assert page.exists()
    assert (
        main(["evaluate", ctc, "--images", str(tmp_path), "--captions", str(tmp_path / "texts.jsonl"), "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["lines"] == 4
    (tmp_path / "broken.png").write_bytes(b"")
    for says, arguments in {
        "broken.png: not an image that can be read": ["read", ctc, str(tmp_path / "broken.png")],
        "saccade read": ["classify", ctc, image],
        "wanted --images DIR": ["evaluate", ctc, "--source", image, "--reference", image],
    }.items():
        assert main(arguments) == 2
        assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("model.width=100", "width"),
        ("data.min_length=9", "min_length"),
        ("data.train=x", "both"),
        ("model.dim=7", "dim"),
    ],
)
def test_bad_settings_get_one_line(change: str, says: str):
    with pytest.raises(InputError, match=says):
        load_recipe("lines-ctc", [change])


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [("", "", 0), ("kitten", "sitting", 3), ("123", "", 3), ("12", "21", 2), ("ab", "axb", 1)],
)
def test_edits(one: str, other: str, apart: int):
    assert edit_distance(one, other) == edit_distance(other, one) == apart


def test_a_strip_too_long_to_be_squeezed_is_refused():
    a_little = np.full((16, 60), 255, dtype=np.uint8)
    assert read_strip(as_png(a_little), height=16, width=48).all()  # squeezed: white to the end
    with pytest.raises(InputError, match=r"the image: 10\.0 times as wide as high, .* up to 3\.0 times"):
        read_strip(as_png(np.zeros((16, 160), dtype=np.uint8)), height=16, width=48)
