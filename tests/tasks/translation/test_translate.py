"""Training, translating and evaluating as a person runs them, and every kind of bad input."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from saccade.cli.main import main
from saccade.tasks.find_recipe import recipe_names
from saccade.tasks.translation.dates import Dates
from saccade.text import write_pairs

TINY = ["model.dim=16", "model.embedding=8", "train.steps=3", "train.tensorboard=false", "data.pairs=200"]


def saccade(*arguments: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "saccade.cli.main", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)  # noqa: S603


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that is finished, though it learnt little."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert main(["train", "dates", *TINY, "data.validation_size=10", "--run", str(folder)]) == 0
    return folder


def test_what_a_training_leaves(run: Path) -> None:
    names = {path.name for path in run.iterdir()}
    assert names >= {"recipe.yaml", "metrics.jsonl", "checkpoint.safetensors", "model", "vocabulary"}
    assert {path.name for path in (run / "model").iterdir()} == {
        "config.yaml",
        "model.safetensors",
        "source.txt",
        "target.txt",
    }
    last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["model"].keys() == {"loss", "bleu", "chrf", "exact_match"}


def test_lines_in_lines_out(run: Path, tmp_path: Path) -> None:
    text = "le 9 novembre 2026\n\nMay 3, 1999\n"
    (tmp_path / "in").write_text(text)
    piped = saccade("translate", str(run / "model"), "--beam", "2", stdin=text.encode())
    from_file = saccade("translate", str(run / "model"), str(tmp_path / "in"), "--beam", "2", "--batch-size", "1")
    assert piped.returncode == 0, piped.stderr
    assert piped.stderr == b""
    assert piped.stdout == from_file.stdout
    lines = piped.stdout.decode().split("\n")
    assert len(lines) == 4
    assert lines[1] == ""


def test_json_lines(run: Path) -> None:
    result = saccade("translate", str(run / "model"), "--nbest", "3", "--json", stdin="le 9 août 2026\nx\n".encode())
    records = [json.loads(line) for line in result.stdout.decode().splitlines()]
    assert len(records) == 2
    for record in records:
        assert list(record) == [
            "source",
            "text",
            "score",
            "source_words",
            "target_words",
            "attention",
            "alternatives",
        ]
        assert len(record["alternatives"]) == 2
        assert len(record["attention"]) == len(record["target_words"])
        assert len(record["attention"][0]) == len(record["source_words"])
    assert records[0]["source"] == "le 9 août 2026"


def test_evaluating(run: Path, tmp_path: Path) -> None:
    pairs = [Dates(9).pair(n) for n in range(12)]
    write_pairs(tmp_path / "test.tsv", pairs)
    (tmp_path / "source").write_text("".join(f"{pair.source}\n" for pair in pairs))
    (tmp_path / "reference").write_text("".join(f"{pair.target}\n" for pair in pairs))
    files = ["--source", str(tmp_path / "source"), "--reference", str(tmp_path / "reference")]
    output = tmp_path / "output"
    options = ["--json", "--beam", "1", "--by-length", "2", "--output", str(output)]
    result = saccade("evaluate", str(run / "model"), *files, *options)
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    assert figures["sentences"] == 12
    assert "tok:13a" in figures["bleu"]["signature"]
    assert "case:lc" in figures["bleu_lower"]["signature"]
    assert figures["chrf"]["value"] >= 0
    assert len(output.read_text().splitlines()) == 12
    assert sum(group["sentences"] for group in figures["by_length"]) == 12
    assert figures["by_length"][0].keys() == {"words", "sentences", "bleu", "bleu_lower", "chrf", "exact_match"}
    table = ["--table", str(tmp_path / "test.tsv"), "--beam", "1", "--by-length", "100"]
    shown = saccade("evaluate", str(run / "model"), *table).stdout.decode()
    assert shown.startswith("12 sentences\nbleu ")
    assert "  1 to 100 words:    12 sentences  bleu " in shown


def test_of_a_model_that_writes_lower_case_the_lower_cased_figures_lead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lower = ["vocabulary.lowercase=true", "data.validation_size=10", "--run", str(tmp_path / "run")]
    assert main(["train", "dates", *TINY, *lower]) == 0
    write_pairs(tmp_path / "test.tsv", [Dates(9).pair(n) for n in range(3)])
    capsys.readouterr()
    table = ["--table", str(tmp_path / "test.tsv"), "--beam", "1", "--by-length", "100"]
    assert main(["evaluate", str(tmp_path / "run"), *table]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:5]] == ["bleu_lower", "chrf", "exact_match", "bleu"]
    assert "3 sentences  bleu_lower " in lines[5]


def test_recipes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipe", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in recipe_names())
    assert main(["recipe", "show", "rnn"]) == 0
    shown = capsys.readouterr().out
    assert main(["recipe", "new", "rnn", str(tmp_path / "mine.yaml")]) == 0
    assert (tmp_path / "mine.yaml").read_text() == shown
    assert main(["recipe", "new", "rnn", str(tmp_path / "mine.yaml")]) == 2
    assert "stands there already" in capsys.readouterr().err


def files(folder: Path, source: bytes, target: bytes) -> list[str]:
    (folder / "s").write_bytes(source)
    (folder / "t").write_bytes(target)
    return [f"data.train.source={folder / 's'}", f"data.train.target={folder / 't'}"]


LINES = b"".join(b"a b %d\n" % n for n in range(30))


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (LINES, LINES[:-7], "/s has 30 lines, {0}/t has 29;"),
        (LINES, LINES.replace(b"a b 7", b"a \xff 7"), "/t, line 8: byte 3 (0xff) is not UTF-8"),
        (b"", b"", "/s is empty"),
        (LINES.replace(b"a b 7\n", b"\n"), LINES, "the source of pair 8 is empty (1 such pairs of 30)"),
        (
            LINES.replace(b"a b 7\n", b"word " * 10_000 + b"\n"),
            LINES,
            "/t, pair 8 has 10001 tokens, more than model.max_length, which is 512",
        ),
    ],
)
def test_bad_files(
    source: bytes, target: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    words = ["vocabulary.kind=words", "data.valid.source=" + str(tmp_path / "s"), f"data.valid.target={tmp_path / 't'}"]
    assert main(["train", "rnn", *files(tmp_path, source, target), *words, "--run", str(run)]) == 2
    said = capsys.readouterr().err
    *before, last = said.splitlines()
    assert message.format(tmp_path) in last
    assert last.startswith("saccade: ")
    assert before in ([], ["learning a vocabulary of words from 30 pairs"])
    assert not (run / "model").exists()
    assert not (run / "checkpoint.safetensors").exists()


def test_bad_pairs_can_be_left_out(tmp_path: Path) -> None:
    source = LINES.replace(b"a b 7\n", b"\n").replace(b"a b 8\n", b"word " * 10_000 + b"\n")
    # held out for validation, too, where it would have to be translated
    valid = [f"data.valid.source={tmp_path / 's'}", f"data.valid.target={tmp_path / 't'}"]
    arguments = [*files(tmp_path, source, LINES), *valid, "vocabulary.kind=words", "data.bad_pairs=skip", *TINY]
    assert main(["train", "rnn", *arguments, "--run", str(tmp_path / "run")]) == 0


def test_every_mistake_of_a_recipe_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["model.scroe=dot", "train.steps=many", "trian.lr=3", "vocabulary.size=-1"]
    assert main(["train", "rnn", *settings, "--run", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "model.scroe: no such setting; did you mean score?" in said
    assert "train.steps: found 'many', wanted a whole number" in said
    assert "trian: no such setting; did you mean train?" in said
    assert "vocabulary.size: found -1, wanted at least 8" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["{0}/nowhere"], b"x\n", "no such folder"),
        (["{0}/vocabulary"], b"x\n", "no config.yaml and no model.safetensors there"),
        (["{0}/model", "{0}/nowhere"], b"", "nowhere cannot be read: No such file or directory"),
        (["{0}/model", "--beam", "0"], b"x\n", "argument --beam: found 0, wanted at least 1"),
        (["{0}/model", "--sampling", "--top-p", "7"], b"x\n", "top_p: found 7.0"),
        (["{0}/model", "--top-k", "7"], b"x\n", "top_k: found 7, wanted sampling with it"),
        (["{0}/model", "--nbest", "7"], b"x\n", "nbest: found 7, wanted at most beam, 5"),
        (["{0}/model", "--prefixes", "{0}/model/target.txt"], b"x\n" * 99, "lines, standard input has more"),
        (["{0}/model", "--beam", "3", "--sampling"], b"x\n", "draws (--sampling) know no beam"),
    ],
)
def test_bad_translations(
    run: Path,
    arguments: list[str],
    stdin: bytes,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    try:
        code = main(["translate", *(argument.format(run) for argument in arguments)])
    except SystemExit as exit_:
        code = exit_.code
    said = capsys.readouterr()
    assert code == 2
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "a"], "wanted either --source and --reference, or --table"),
        (["--table", "{0}/nowhere.tsv"], "nowhere.tsv cannot be read"),
        (["--table", "{0}/nowhere.tsv", "--by-length", "0"], "--by-length: found 0, wanted at least 1"),
        (["--table", "{0}/recipe.yaml"], "no column source"),
    ],
)
def test_bad_evaluations(run: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(run / "model"), *(argument.format(run) for argument in arguments)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_reader_that_has_gone(run: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "saccade.cli.main", "translate", str(run / "model"), "--beam", "1"]
    result = subprocess.run(command, input=b"May 3\n", stdout=write, stderr=subprocess.PIPE, check=False, timeout=120)  # noqa: S603
    os.close(write)
    assert result.returncode == 0
    assert result.stderr == b""


@pytest.mark.parametrize("name", ["no-such-recipe", "/dev/null"])
def test_no_such_recipe(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", name, "--run", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
