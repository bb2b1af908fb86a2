"""`saccade look` and `saccade evaluate` of a machine with a memory, as a person runs them."""

import json
from pathlib import Path

import pytest

from tests.tasks.algorithms.test_model import by_hand, make
from tests.tasks.translation.test_look import refused, said


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    by_hand().save(folder / "copy")
    make("lstm").save(folder / "lstm")
    return folder


def test_evaluation_goes_by_length(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "evaluate", str(models / "copy"), "--lengths", "2,9", "--samples", "30").splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["2", "9"]
    assert all(line.endswith("0.00 %") for line in lines[2:])
    found = json.loads(said(capsys, "evaluate", str(models / "lstm"), "--json"))
    assert [row["length"] for row in found["by_length"]] == [5, 10, 20, 30]
    assert found["sequences"] == 100
    assert all(20 < row["wrong"] < 80 for row in found["by_length"])  # it has learnt nothing


def test_the_terminal_shows_each_step(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "look", str(models / "copy"), "--length", "4").splitlines()
    assert lines[-1] == "copy, length 4: 0 of 12 bits wrong"
    assert "output:" in lines
    into = [line.split()[1][:3] for line in lines[2:6]]
    assert [line.split()[2] for line in lines[-5:-1]] == into


def test_swapping_two_locations_swaps_what_is_written(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = said(capsys, "look", str(models / "copy"), "--length", "5").splitlines()
    swapped = said(capsys, "look", str(models / "copy"), "--length", "5", "--swap", "2", "4").splitlines()
    assert swapped[-1].endswith("0 of 15 bits are not where they went")
    one, other = ([line.split()[2] for line in lines[-6:-1]] for lines in (plain, swapped))
    assert other == [one[0], one[3], one[2], one[1], one[4]]


def test_figures_and_numbers(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure = tmp_path / "steps.svg"
    numbers = json.loads(said(capsys, "look", str(models / "copy"), "--svg", str(figure), "--json"))
    text = figure.read_text()
    for name in ("inputs", "outputs", "adds", "reads", "write weightings", "read weightings", "phase-output"):
        assert name in text
    assert len(numbers["inputs"]) == len(numbers["outputs"]) == 11
    assert numbers["phases"] == [{"name": "input", "step": 0}, {"name": "output", "step": 6}]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["look", "copy", "--html", "page.html"], "runs an algorithm, and does not take it"),
        (["look", "copy", "--beam", "3"], "runs an algorithm, and does not take it"),
        (["look", "copy", "--swap", "1", "9", "--length", "4"], "wanted 1 to 4"),
        (["look", "copy", "--swap", "2", "2", "--length", "4"], "to one location"),
        (["look", "copy", "--repeats", "3"], "--repeats: this machine learnt copy"),
        (["look", "lstm"], "no memory to look into"),
        (["evaluate", "copy", "--lengths", "2,x"], "wanted lengths such as"),
        (["evaluate", "copy", "--lengths", "0"], "wanted 1 to"),
        (["evaluate", "copy", "--data", "here"], "--data: "),
        (["evaluate", "copy", "--captions", "here"], "--captions: "),
        (["evaluate", "copy", "--source", "here"], "a model that runs an algorithm; wanted --lengths"),
        (["translate", "copy", "file"], "saccade evaluate"),
    ],
)
def test_what_makes_no_sense_is_refused(
    models: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, model, *rest = words
    assert message in refused(capsys, command, str(models / model), *rest)
