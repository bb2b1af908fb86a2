"""The examples of the pages run, in their order and in one folder, and print what stands below them."""

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

import saccade
from saccade.base.errors import InputError
from saccade.tasks.pointing.files import read_problems
from saccade.tasks.story_qa.stories import read_stories
from saccade.training import Silent
from tests.documents.pages import DOCUMENTS, PAGES, Block, name_of, sections_of

# What the pages take for trained already: a recipe, and settings with which it is done in a moment.
TRAINED = {
    "runs/dates": ("dates", ["data.pairs=200", "model.dim=16", "train.steps=2", "validation.sentences=2"]),
    "runs/answers": ("answers", ["data.pairs=40", "vocabulary.min_frequency=5", "model.dim=16", "train.steps=2"]),
    "runs/mine": ("shapes", ["data.scenes=20", "model.dim=16", "train.steps=2"]),
    "runs/copy": ("ntm-copy", ["train.steps=2"]),
    "runs/gpt": ("gpt", ["data.lines=40", "model.layers=1", "train.steps=2"]),
    "runs/labels": ("labels", ["data.texts=40", "data.validation_size=5", "model.dim=8", "train.steps=2"]),
    "runs/stories": ("stories", ["data.stories=20", "train.steps=2", "train.linear_start=0"]),
}
WITH_EXAMPLES = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all that the pages name lies ready."""
    folder = tmp_path_factory.mktemp("reader")
    for run, (recipe, settings) in TRAINED.items():
        saccade.train(recipe, run=folder / run, settings=[*settings, "train.tensorboard=false"], reporter=Silent())
    Image.new("RGB", (40, 30), "red").save(folder / "photo.jpg")
    return folder


def examples(page: Path) -> Iterator[tuple[str, str | None]]:
    """Each example of a page, and what it says that it prints."""
    blocks: list[Block] = [block for section in sections_of(page) for block in section.blocks]
    for block, after in zip(blocks, [*blocks[1:], Block("", "")], strict=True):
        if block.language == "python":
            yield block.text, after.text if after.language == "text" else None


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_run_and_print_what_they_say(
    page: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trains = "saccade.train(" in page.read_text(encoding="utf-8")  # into folders that must be its own
    monkeypatch.chdir(tmp_path if trains else folder)
    known: dict[str, object] = {}
    for code, wanted in examples(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), known)  # noqa: S102
        assert wanted is None or printed.getvalue() == wanted


def test_there_are_examples_and_some_say_what_they_print() -> None:
    assert {
        "attention.md",
        "fine-tuning.md",
        "images.md",
        "language-models.md",
        "look.md",
        "memory.md",
        "python.md",
        "show.md",
        "summaries-and-answers.md",
        "text-classification.md",
        "translation.md",
    } == {page.name for page in WITH_EXAMPLES}
    wanted = [text for page in WITH_EXAMPLES for _, text in examples(page) if text is not None]
    assert len(wanted) == sum(page.read_text(encoding="utf-8").count("```text") for page in PAGES) >= 2


def test_lines_of_json_are_read_as_they_stand(tmp_path: Path) -> None:
    """Those of stories and problems, by who reads such files."""
    read = 0
    for document in DOCUMENTS:
        for section in sections_of(document):
            for block in section.blocks:
                if block.language == "json":
                    file = tmp_path / "lines.jsonl"
                    file.write_text(block.text)
                    assert {"Stories": read_stories, "Problems": read_problems}[section.heading](file)
                    read += 1
    assert read == 2


def test_the_check_of_lines_can_fail(tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_text(json.dumps({"inputs": [1, 2], "answers": [0, 1]}))
    with pytest.raises(InputError, match="answer"):
        read_problems(tmp_path / "lines.jsonl")
