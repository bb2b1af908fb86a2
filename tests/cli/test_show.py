"""`saccade show`, as a person runs it."""

import subprocess
import sys
from pathlib import Path

import pytest

from saccade.cli.main import main
from saccade.show import TOPICS, summary
from tests.show.samples import lesson_of


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_into_the_terminal(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", topic]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"{lesson_of(topic).title}\n")
    assert said.out.count("\n") > 20
    assert said.err == ""


def test_the_list_of_topics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=1) for line in lines] == [[topic, summary(topic)] for topic in TOPICS]


def test_files_are_written_and_the_terminal_stays_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {form: tmp_path / f"mask.{form}" for form in ("html", "png", "svg", "pdf")}
    assert main(["show", "mask", *(word for form, path in names.items() for word in (f"--{form}", str(path)))]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("written: ") == 4
    starts = {form: path.read_bytes()[:5] for form, path in names.items()}
    assert starts == {"html": b"<!doc", "png": b"\x89PNG\r", "svg": b"<?xml", "pdf": b"%PDF-"}


def test_another_seed_shows_other_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    for seed in ("1", "1", "2"):
        main(["show", "mask", "--seed", seed])
        seen.append(capsys.readouterr().out)
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gardening"], "argument TOPIC: invalid choice: 'gardening'"),
        (["mask", "--seed", "x"], "argument --seed: found 'x', wanted a whole number"),
        (["mask", "--seed", "9" * 30], "saccade: seed: found 9999"),
        (["mask", "--png", "mask.jpg"], "saccade: --png: found mask.jpg, wanted a name that ends in .png"),
        (["mask", "--html", "nowhere/mask.html"], "saccade: nowhere/mask.html cannot be written: there is no folder"),
        (["--html", "mask.html"], "saccade: TOPIC: found none, and a file to draw into"),
    ],
)
def test_bad_input_is_one_clear_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["show", *arguments])
    except SystemExit as exit_:
        code = exit_.code
    said = capsys.readouterr().err
    assert code == 2
    assert message in said
    assert said.count("\n") == 1


def test_the_list_needs_no_topic_to_be_imported() -> None:
    code = (
        "import sys; from saccade.show import TOPICS, summary; [summary(topic) for topic in TOPICS];"
        "assert 'torch' not in sys.modules; assert 'saccade.show.topics.mask' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
