"""`saccade point` and `saccade evaluate` of a pointer, as a person runs them."""

import io
import json
import sys
from pathlib import Path

import pytest

from saccade.cli.main import main
from saccade.tasks.pointing.problems import make_problems
from tests.tasks.pointing.test_model import make
from tests.tasks.translation.test_look import refused, said


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for numbers and one for points; neither has learnt anything."""
    folder = tmp_path_factory.mktemp("models")
    make().save(folder / "sort")
    make(input_size=2).save(folder / "hull")
    return folder


@pytest.fixture
def numbers(tmp_path: Path) -> str:
    (tmp_path / "numbers.txt").write_text("3 1 2\n[0.5, 7, 1, 2.25]\n")
    return str(tmp_path / "numbers.txt")


def test_numbers_are_said_in_the_order_that_was_found(
    models: Path, numbers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(capsys, "point", str(models / "sort"), numbers).splitlines()
    for line, problem in zip(lines, ([3, 1, 2], [0.5, 7, 1, 2.25]), strict=True):
        order, values = (part.split() for part in line.split("\t"))
        assert values == [str(problem[int(index)]) for index in order]


def test_json_has_everything(models: Path, numbers: str, capsys: pytest.CaptureFixture[str]) -> None:
    plain = said(capsys, "point", str(models / "sort"), numbers, "--beam", "3").splitlines()
    found = [
        json.loads(line)
        for line in said(capsys, "point", str(models / "sort"), numbers, "--beam", "3", "--json").splitlines()
    ]
    assert [one["inputs"] for one in found] == [[[3.0], [1.0], [2.0]], [[0.5], [7.0], [1.0], [2.25]]]
    for line, one in zip(plain, found, strict=True):
        assert line.split("\t")[0] == " ".join(map(str, one["order"]))
        assert one["sorted"] == [one["inputs"][index][0] for index in one["order"]]
        assert len(one["attention"]) == len(one["order"]) + 1
        assert one["score"] < 0


def test_a_pipe_of_points(models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    points = make_problems("hull", 3, seed=1, min_length=4, max_length=6)
    text = "\n".join(json.dumps({"inputs": problem.inputs}) for problem in points)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    lines = said(capsys, "point", str(models / "hull"), "-", "--batch-size", "2").splitlines()
    for line, problem in zip(lines, points, strict=True):
        order = [int(index) for index in line.split()]
        assert len(set(order)) == len(order)
        assert set(order) <= set(range(len(problem.inputs)))


@pytest.mark.parametrize(("model", "line"), [("sort", "3 1 2"), ("hull", "[[0, 0], [1, 0], [0, 1], [0.2, 0.3]]")])
def test_figures(model: str, line: str, models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.txt").write_text(line)
    figure = tmp_path / "one.svg"
    assert main(["point", str(models / model), str(tmp_path / "one.txt"), "--svg", str(figure)]) == 0
    assert f"written: {figure}" in capsys.readouterr().err
    assert ("map-0-0" in figure.read_text()) == (model == "sort")


def test_evaluation_by_size(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(models / "hull")
    figures = json.loads(said(capsys, "evaluate", model, "--samples", "50", "--beam", "1", "--json"))
    assert figures["problems"] == sum(row["problems"] for row in figures["by_size"]) == 50
    assert [row["inputs"] for row in figures["by_size"]] == [2, 3, 4, 5, 6, 7]
    share = sum(row["exact_match"] * row["problems"] for row in figures["by_size"]) / 50
    assert figures["exact_match"] == pytest.approx(share)
    assert (
        json.loads(said(capsys, "evaluate", model, "--samples", "50", "--beam", "1", "--seed", "1", "--json"))
        != figures
    )

    problems = make_problems("hull", 50, seed="test 0", min_length=2, max_length=7)
    path = tmp_path / "problems.jsonl"
    path.write_text("\n".join(json.dumps(problem._asdict()) for problem in problems))
    assert json.loads(said(capsys, "evaluate", model, "--data", str(path), "--beam", "1", "--json")) == figures
    table = said(capsys, "evaluate", model, "--data", str(path), "--beam", "1").splitlines()
    assert table[0] == "50 problems, beam 1"
    assert table[3].split() == ["inputs", "problems", "exact_match", "area"]
    assert [int(row.split()[0]) for row in table[4:]] == [2, 3, 4, 5, 6, 7]


def test_bad_input_gets_one_line(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sort = str(models / "sort")
    files = {
        "points": "[[1, 2], [3, 4]]\n",
        "many": "1 2\n2 1\n",
        "unanswered": '{"inputs": [1, 2]}\n',
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    paths = {name: str(tmp_path / name) for name in files}
    for says, arguments in {
        "points, line 1: found inputs of 2 numbers each": ["point", sort, paths["points"]],
        "a figure is of one line": ["point", sort, paths["many"], "--png", str(tmp_path / "x.png")],
        "cannot be read": ["point", sort, str(tmp_path / "missing")],
        "no such folder": ["point", str(tmp_path / "missing"), paths["many"]],
        "wanted at least 1": ["point", sort, paths["many"], "--beam", "0"],
        "unanswered, line 1: wanted": ["evaluate", sort, "--data", paths["unanswered"]],
        "either --data or --samples": ["evaluate", sort, "--data", paths["many"], "--samples", "3"],
        "points at inputs; wanted --data": ["evaluate", sort, "--source", paths["many"]],
        "saccade point": ["translate", sort, paths["many"]],
    }.items():
        assert says in refused(capsys, *arguments)


def test_problems_of_ones_own_come_with_their_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pointer = make()
    pointer.settings = pointer.settings.model_copy(update={"problem": None})
    pointer.save(tmp_path / "own")
    assert "wanted --data FILE" in refused(capsys, "evaluate", str(tmp_path / "own"), "--samples", "3")
    (tmp_path / "one.txt").write_text("2 1\n")
    assert "\t" not in said(capsys, "point", str(tmp_path / "own"), str(tmp_path / "one.txt"))
