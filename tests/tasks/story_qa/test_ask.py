"""Asking and evaluating as a person does it, with right and with wrong input."""

import json
from pathlib import Path

import pytest
import torch

from saccade.cli.main import main
from saccade.tasks.story_qa.arrays import StoryWords
from saccade.tasks.story_qa.made import make_stories
from saccade.tasks.story_qa.model import MemoryNetwork
from saccade.tasks.story_qa.settings import MemN2NSettings, MemoryNetworkSettings

STORY, ASKED = "Mary went to the garden. Mary took the milk.\nJohn went to the office.", "Where is the milk?"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that has learnt nothing, but has a softmax."""
    torch.manual_seed(0)
    words = StoryWords.learn(make_stories(30, seed=0))
    network = MemoryNetwork.make(MemoryNetworkSettings(model=MemN2NSettings(dim=8, null_memories=0)), words)
    folder = tmp_path_factory.mktemp("models") / "model"
    network.save(folder)
    return str(folder)


def test_a_question(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", model, STORY, ASKED]) == 0
    captured = capsys.readouterr()
    text, share = captured.out.split()
    assert 0 < float(share) < 1
    assert captured.err == ""
    assert main(["ask", model, STORY, ASKED, "--top", "3", "--hops"]) == 0
    first, header, *rows = capsys.readouterr().out.splitlines()
    assert first.split("\t")[0] == f"{text} {share}"
    assert len(first.split("\t")) == 3
    assert header.split() == ["hop", "1", "hop", "2", "hop", "3"]
    assert [row[24:] for row in rows] == ["Mary went to the garden.", "Mary took the milk.", "John went to the office."]
    for hop in range(3):
        assert sum(float(row[8 * hop : 8 * hop + 6]) for row in rows) == pytest.approx(1, abs=0.02)


def test_json_and_files(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", model, STORY, ASKED, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["sentences"] == ["Mary went to the garden.", "Mary took the milk.", "John went to the office."]
    assert [len(row) for row in record["attention"]] == [3, 3, 3]
    assert record["ranking"][record["answer"]] == record["probability"]
    stories = tmp_path / "stories.jsonl"
    stories.write_text("\n".join(json.dumps({"story": STORY, "question": ASKED}) for _ in range(2)))
    assert main(["ask", model, "--file", str(stories), "--json"]) == 0
    assert [json.loads(line)["answer"] for line in capsys.readouterr().out.splitlines()] == [record["answer"]] * 2
    page, figure = tmp_path / "page.html", tmp_path / "hops.svg"
    assert main(["ask", model, "--file", str(stories), "--html", str(page)]) == 0
    assert capsys.readouterr().out.startswith(f"where is the milk?\t{record['answer']}")
    assert "mary took the milk" in page.read_text()
    assert main(["ask", model, STORY, ASKED, "--svg", str(figure)]) == 0
    assert f"written: {figure}" in capsys.readouterr().err
    for label in ("hop 3", "Mary took the milk."):
        assert label in figure.read_text()


def test_unknown_words_are_named(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", model, "Zoe went to the garden.", "Where is Zoe?"]) == 0
    assert capsys.readouterr().err == "saccade: the model does not know, and passes over: zoe\n"


def test_what_a_memory_is_too_small_for_is_told(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    memory = MemoryNetwork.load(Path(model)).settings.model.memory_size
    assert main(["ask", model, "Mary went to the garden. " * (memory + 3), ASKED]) == 0
    said = f"saccade: the model remembers {memory} sentences; the story has {memory + 3}, the first are lost\n"
    assert said in capsys.readouterr().err


def test_a_question_in_babis_format_may_have_no_answer_yet(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "open.txt"
    path.write_text("1 Mary went to the garden.\n2 Where is Mary?\n")
    assert main(["ask", model, "--file", str(path)]) == 0
    assert capsys.readouterr().out.startswith("where is mary?\t")
    assert main(["evaluate", model, "--data", str(path)]) == 2


def test_wrong_input_gets_one_line(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, two = tmp_path / "bad.txt", tmp_path / "two.jsonl"
    bad.write_text("1 Mary went to the garden.\nWhere is Mary?\tgarden\t1\n")
    lines = tmp_path / "lines.txt"
    lines.write_text('{"story": "Mary went home.", "question": "Where is Mary?"}\n')
    two.write_text("\n".join(json.dumps({"story": STORY, "question": ASKED}) for _ in range(2)))
    wrong = {
        "'quo vadis' has no word that the model knows": ["ask", model, STORY, "Quo vadis?"],
        "STORY: found no word": ["ask", model, " . ", ASKED],
        "QUESTION: found no word": ["ask", model, STORY, "?"],
        "wanted a story and a question": ["ask", model, STORY],
        "bad.txt, line 2: found 'Where'": ["ask", model, "--file", str(bad)],
        "JSON lines belong in a file *.jsonl": ["ask", model, "--file", str(lines)],
        "wanted one of the two": ["ask", model, STORY, ASKED, "--file", str(bad)],
        "a figure is of one question": ["ask", model, "--file", str(two), "--png", "a.png"],
        "ends in": ["ask", model, STORY, ASKED, "--png", str(tmp_path / "a.bmp")],
        "no such folder": ["ask", str(tmp_path / "none"), STORY, ASKED],
        "cannot be read": ["ask", model, "--file", str(tmp_path / "none.jsonl")],
        "wanted --data PATH": ["evaluate", model],
        "no file qa*_test.txt": ["evaluate", model, "--data", str(tmp_path)],
        "two.jsonl, line 1": ["evaluate", model, "--data", str(two)],
        "saccade ask": ["translate", model, str(bad)],
    }
    for says, arguments in wrong.items():
        assert main(arguments) == 2, arguments
        error = capsys.readouterr().err
        assert says in error
        assert error.count("\n") == 1


def test_before_the_softmax_there_is_nothing_to_draw(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = MemoryNetwork.load(Path(model))
    with torch.no_grad():
        network.net.embedding.mul_(30)
    network.net.linear.fill_(1)
    network.save(tmp_path / "linear")
    linear = str(tmp_path / "linear")
    for command in (
        ["ask", linear, STORY, ASKED, "--hops"],
        ["ask", linear, STORY, ASKED, "--html", str(tmp_path / "a.html")],
        ["ask", linear, STORY, ASKED, "--png", str(tmp_path / "a.png")],
        ["look", linear, STORY, ASKED],
    ):
        assert main(command) == 2, command
        said = capsys.readouterr()
        assert said.out == ""
        assert "no weights to show; train it beyond its linear start" in said.err
        assert said.err.count("\n") == 1
    assert main(["ask", linear, STORY, ASKED, "--json"]) == 0  # an answer there is, and scores are no weights
    assert json.loads(capsys.readouterr().out)["attention"] is None
    assert main(["ask", linear, STORY, ASKED]) == 0


def test_errors_of_each_task(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = MemoryNetwork.load(Path(model))
    right = network.answer("Mary went to the garden.", "Where is Mary?").text
    told = "1 Mary went to the garden.\n2 Where is Mary?\t{}\t1\n"
    (tmp_path / "qa2_b_test.txt").write_text(told.format(right) * 3 + told.format("nowhere"))
    (tmp_path / "qa1_a_test.txt").write_text(told.format(right) * 30)
    assert main(["evaluate", model, "--data", str(tmp_path), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures == {"questions": 34, "mean_error": 12.5, "failed": 1, "tasks": {"1 a": 0.0, "2 b": 25.0}}
    assert main(["evaluate", model, "--data", str(tmp_path)]) == 0
    first, second, mean = capsys.readouterr().out.splitlines()
    assert first.split() == ["1", "a", "0.00", "of", "30"]
    assert second.split() == ["2", "b", "25.00", "of", "4", "failed"]
    assert mean.split()[:3] == ["mean", "error", "12.50"]
    assert "1 of 2 tasks above 5 %" in mean


def test_stories_are_made_to_train_and_test_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make = ["data", "make", "stories", "--stories", "12", "--test", "3", "--out", str(tmp_path / "made")]
    assert main(make) == 0
    assert "qa1_made_train.txt: 12 stories, 60 questions, such as" in capsys.readouterr().out
    assert main(make) == 2
    assert "stands there already; choose another folder, or pass --overwrite" in capsys.readouterr().err
    assert main([*make, "--overwrite"]) == 0
    small = ["data.make=null", f"data.train={tmp_path / 'made'}", "model.dim=8", "train.steps=3", "train.batch_size=8"]
    run = str(tmp_path / "run")
    assert main(["train", "stories", *small, "train.tensorboard=false", "--run", run]) == 0
    capsys.readouterr()
    assert main(["evaluate", f"{run}/model", "--data", str(tmp_path / "made"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 15
