"""`saccade data make`, as a person runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from saccade.cli.main import main

SMALL = ["--pairs", "30", "--valid", "5", "--test", "5"]


def saccade(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "saccade.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=120)  # noqa: S603


@pytest.mark.parametrize("corpus", ["dates", "numbers"])
def test_three_files(corpus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "make", corpus, *SMALL, "--out", str(tmp_path / "made")]) == 0
    for name, size in (("train", 30), ("valid", 5), ("test", 5)):
        lines = (tmp_path / "made" / f"{name}.tsv").read_text().splitlines()
        assert lines[0] == "source\ttarget"
        assert len(lines) == size + 1
        assert all(len(line.split("\t")) == 2 for line in lines)
    assert "train.tsv: 30 pairs, such as " in capsys.readouterr().out


def test_the_installed_command(tmp_path: Path) -> None:
    run = saccade("data", "make", "dates", "--locales", "de,fr", *SMALL, "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert (tmp_path / "test.tsv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--locales", "de,xx"], "saccade: locales: found xx, wanted some of"),
        (["--out", "/dev/null/nowhere"], "saccade: /dev/null/nowhere cannot be made: Not a directory"),
        (["--pairs", "0"], "argument --pairs: found 0, wanted 1 to 10000000; see saccade data make dates --help"),
        (["--pairs", "99999999999"], "argument --pairs: found 99999999999, wanted 1 to 10000000"),
        (["--pairs", "many"], "argument --pairs: found 'many', wanted a whole number"),
        (["--locales", ","], "saccade: locales: found none, wanted some of"),
        (["--shape", "round"], "unrecognized arguments"),
    ],
)
def test_bad_input_is_one_clear_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["data", "make", "dates", *SMALL, "--out", str(tmp_path / "made"), *arguments])
    except SystemExit as exit_:
        code = exit_.code
    said = capsys.readouterr().err
    assert code == 2
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "made").exists()


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    made = ["data", "make", "numbers", *SMALL, "--out", str(tmp_path)]
    assert main(made) == 0
    assert main(made) == 2
    assert main([*made, "--overwrite"]) == 0


def test_a_closed_pipe_is_no_drama(tmp_path: Path) -> None:
    """The reader has gone before the first line; the files are whole all the same."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "saccade.cli.main", "data", "make", "dates", *SMALL, "--out", str(tmp_path)]
    run = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False, timeout=120)  # noqa: S603
    os.close(write)
    assert run.returncode == 0
    assert run.stderr == b""
    assert len(list(tmp_path.iterdir())) == 3


def test_help_and_version() -> None:
    assert "make a corpus" in saccade("--help").stdout
    assert saccade("--version").stdout.startswith("saccade 0.")
    assert saccade().returncode == 2
