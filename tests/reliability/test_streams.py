"""One line in, one record out, in order and as it comes."""

import gzip
import io
import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

import saccade
from saccade.cli.main import main
from saccade.console.streams import Incoming
from saccade.text import END, split_tokens, truncate_tokens
from saccade.text.vocabularies.listed import Characters, Words
from tests.reliability.conftest import saccade as command

GREEDY = ["--beam", "1"]


def lines_of(content: bytes, tmp_path: Path, *, batch_size: int = 2) -> list[list[str | None]]:
    (tmp_path / "in").write_bytes(content)
    chunks = Incoming(str(tmp_path / "in")).chunks(batch_size)
    return [[None if line.error else line.text for line in chunk] for chunk in chunks]


def test_lines_in_chunks_that_grow(tmp_path: Path) -> None:
    chunks = lines_of(b"\xef\xbb\xbfa\r\nb\n\nd\n\xff\n" + b"x\n" * 40 + b"end", tmp_path)
    assert [len(chunk) for chunk in chunks] == [2, 4, 8, 16, 16]
    assert [line for chunk in chunks for line in chunk] == ["a", "b", "", "d", None, *["x"] * 40, "end"]


def test_a_line_without_an_end_is_forgotten_as_it_comes(tmp_path: Path) -> None:
    assert lines_of(b"a\n" + b"y" * (3 << 20) + b"\nb\n" + b"z" * (2 << 20), tmp_path) == [["a", None], ["b", None]]
    assert lines_of(b"", tmp_path) == []
    assert lines_of(b"\n", tmp_path) == [[""]]


def test_packed_lines(tmp_path: Path) -> None:
    content = b"a\nb\n" * 1000
    assert lines_of(gzip.compress(content[:100]) + gzip.compress(content[100:]), tmp_path) == lines_of(
        content, tmp_path
    )


@pytest.fixture
def translating(model: Path) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "saccade.cli.main", "translate", str(model), *GREEDY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    yield process
    process.kill()
    process.communicate()


def test_what_has_come_is_answered_while_the_pipe_stays_open(translating: "subprocess.Popen[bytes]") -> None:
    assert translating.stdin is not None
    assert translating.stdout is not None
    for text in (b"May 3, 1999\n", b"\nle 9 novembre 2026\n"):
        translating.stdin.write(text)
        translating.stdin.flush()
        for _ in range(text.count(b"\n")):
            assert translating.stdout.readline().endswith(b"\n")  # or this would wait for ever
    assert translating.poll() is None


def test_a_line_that_is_typed_is_answered_at_once(model: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "saccade.cli.main", "translate", str(model), *GREEDY],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            for _ in range(2):
                os.write(ours, b"May 3, 1999\n")
                assert process.stdout.readline().strip()
        finally:
            process.kill()
            os.close(ours)
            os.close(theirs)


def memory_of(process: "subprocess.Popen[bytes]") -> float:
    """In megabytes."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="it asks Linux how much memory a process has")
def test_endless_input_in_bounded_memory(translating: "subprocess.Popen[bytes]") -> None:
    assert translating.stdin is not None
    assert translating.stdout is not None
    endless = subprocess.Popen(["yes", "May 3, 1999"], stdout=translating.stdin)  # noqa: S607
    try:
        seen: list[float] = []
        for _ in range(3):
            for _ in range(3000):
                assert translating.stdout.readline()
            seen.append(memory_of(translating))
        assert seen[2] < seen[0] + 50
    finally:
        endless.kill()
        endless.wait()


def translate(
    capsys: pytest.CaptureFixture[str], model: Path, content: bytes, tmp_path: Path, *options: str
) -> tuple[int, str, str]:
    (tmp_path / "in").write_bytes(content)
    code = main(["translate", str(model), str(tmp_path / "in"), *GREEDY, *options])
    said = capsys.readouterr()
    return code, said.out, said.err


BAD = {"not UTF-8": b"bro\xc3ken", "too long to split": b"1 " * 20_000, "beyond bounds": b"x" * (2 << 20)}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_line_neither_stops_the_rest_nor_shifts_it(
    bad: bytes, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [b"May %d, 1999" % n for n in range(1, 20)]
    clean = translate(capsys, model, b"\n".join(good), tmp_path)
    code, out, err = translate(capsys, model, b"\n".join([*good[:7], bad, *good[7:]]), tmp_path)
    lines = out.splitlines()
    assert clean == (0, "".join(f"{line}\n" for line in [*lines[:7], *lines[8:]]), "")
    assert lines[7] == ""
    assert code == 1
    assert "line 8: " in err
    assert "1 of 20 lines failed" in err
    _, out, _ = translate(capsys, model, b"\n".join([*good[:7], bad, *good[7:]]), tmp_path, "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert len(records) == 20
    assert ["error" in record for record in records] == [n == 7 for n in range(20)]


def test_lines_of_the_n_best_carry_the_number_of_their_sentence(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_bytes(b"May 3\n\n\xff\nMay 4\n")
    assert main(["translate", str(model), str(tmp_path / "in"), "--nbest", "2"]) == 1
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "2", "3", "4", "4"]
    assert all(len(row) == 3 for row in rows)
    assert rows[2] == ["2", "0.0000", ""]
    assert rows[3] == ["3", "", ""]


def test_what_was_drawn_is_sorted(model: Path) -> None:
    (drawn,) = saccade.load(model, saccade.Translator).translate(["May 3"], sampling=True, nbest=8)
    scores = [drawn.score, *(one.score for one in drawn.alternatives)]
    assert len(set(scores)) > 1
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("overlong", ["split", "truncate", "error"])
def test_a_sentence_that_is_too_long(
    overlong: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = translate(
        capsys, model, b"May 3\n" + b"May 3, 1999. " * 80 + b"\nMay 4\n", tmp_path, "--overlong", overlong
    )
    assert out.count("\n") == 3
    assert code == (1 if overlong == "error" else 0)
    said = {"split": "translated in 3 parts", "truncate": "the rest is left out", "error": "split the sentence"}
    assert f"{tmp_path / 'in'}, line 2: 1039 words, 1040 tokens" in err
    assert said[overlong] in err
    assert (out.splitlines()[1] == "") == (overlong == "error")


def test_the_parts_of_a_sentence_are_translated_each_by_itself(model: Path) -> None:
    translator = saccade.load(model, saccade.Translator)
    text = "May 3, 1999. " * 80
    tokens = translator.vocabularies.source.encode(text)
    parts = ["".join(part.words[:-1]) for part in split_tokens(tokens, translator.net.max_length)]
    assert " ".join(parts) == text.strip()
    (whole,) = translator.translate([text], beam=1, attention=True)
    alone = translator.translate(parts, beam=1, attention=True)
    assert whole.text == " ".join(one.text for one in alone)
    assert whole.score == pytest.approx(sum(one.score for one in alone))
    assert whole.attention is None  # it would be mostly empty, and very large; the parts have theirs
    assert [part.text for part in whole.parts] == [one.text for one in alone]
    for part, one in zip(whole.parts, alone, strict=True):
        assert part.attention is not None
        assert part.attention == pytest.approx(one.attention, abs=1e-6)
    assert len(whole.as_json()["parts"]) == len(parts)


def test_parts_end_where_a_reader_would_pause() -> None:
    text = "one two three. four five, six seven eight nine ten eleven twelve"
    words = Words.learn([text])
    parts = split_tokens(words.encode(text), 6)
    assert [" ".join(part.words[:-1]) for part in parts] == [
        "one two three.",
        "four five,",
        "six seven eight nine ten",
        "eleven twelve",
    ]
    assert all(part.ids[-1] == END and len(part.ids) <= 6 for part in parts)
    letters = Characters.learn([text])
    parts = split_tokens(letters.encode(text), 24)
    assert [("".join(part.words[:-1])) for part in parts][:2] == ["one two three.", "four five,"]
    assert " ".join("".join(part.words[:-1]) for part in parts) == text
    assert truncate_tokens(words.encode(text), 3).words == ["one", "two", "</s>"]
    (same,) = split_tokens(words.encode(text), 100)
    assert same == words.encode(text) == truncate_tokens(words.encode(text), 100)


def test_marks_without_end_are_read_in_no_time(model: Path) -> None:
    vocabulary = saccade.load(model, saccade.Translator).vocabularies.source
    began = time.monotonic()
    vocabulary.encode("a" + "\u0301\u0323" * 40_000)
    assert time.monotonic() < began + 5  # it took half a minute


def test_an_empty_file_gives_an_empty_output(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert translate(capsys, model, b"", tmp_path) == (0, "", "")


@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">/dev/full", "the output: No space left on device"),
        ("<&-", "standard input is closed"),
        (">&-", "standard output is closed"),
    ],
)
def test_streams_that_cannot_be_used_get_one_line(redirection: str, message: str, model: Path) -> None:
    shell = f'echo "May 3" | {{ "{sys.executable}" -m saccade.cli.main translate "{model}" {redirection}; }}'
    result = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_help_that_cannot_be_written() -> None:
    with Path("/dev/full").open("wb") as full:
        result = command("train", "--help", stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 2
    assert result.stderr == b"saccade: the output: No space left on device; make room\n"


def test_a_closed_stderr_is_not_the_first_file_that_is_opened(model: Path, tmp_path: Path) -> None:
    shell = f'"{sys.executable}" -m saccade.cli.main translate "{model}" "{tmp_path / "in"}" 2>&-'
    (tmp_path / "in").write_bytes(b"\xff\nMay 3\n")
    result = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, check=False)  # noqa: S603
    assert result.returncode == 1
    assert result.stdout.count(b"\n") == 2
    assert b"UTF-8" not in result.stdout


def test_a_stderr_that_cannot_be_written_costs_no_record(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"\xff\nMay 3\n")
    shell = f'"{sys.executable}" -m saccade.cli.main translate "{model}" "{tmp_path / "in"}" 2>/dev/full'
    result = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, check=False)  # noqa: S603
    assert result.stdout.count(b"\n") == 2
    assert result.returncode == 1


def test_names_that_would_break_a_line_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", "two\nlines"]) == 2
    assert capsys.readouterr().err.startswith("saccade: two\\nlines: no such folder")


def test_a_file_name_beyond_all_measure(model: Path) -> None:
    for arguments in (["translate", str(model), "x" * 300], ["look", str(model), "May", "--png", "x" * 300 + ".png"]):
        result = command(*arguments)
        assert result.returncode == 2
        assert result.stderr.count(b"\n") == 1
        assert b"File name too long" in result.stderr
    (result,) = [command("translate", "x" * 300)]
    assert result.returncode == 2
    assert result.stderr.count(b"\n") == 1


def test_arguments_that_are_not_text(model: Path, tmp_path: Path) -> None:
    for arguments in (
        ["look", str(model), b"caf\xe9"],
        ["train", "dates", b"model.score=\xe9", "--run", str(tmp_path)],
    ):
        result = command(*arguments)
        assert result.returncode == 2
        assert result.stderr.count(b"\n") == 1


def test_lone_halves_of_characters_are_no_text(model: Path) -> None:
    translator = saccade.load(model, saccade.Translator)
    assert len(translator.translate(["\ud800"])) == 1  # an unknown character like others: nothing has to be encoded


def test_problems_as_they_come(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = [
        "model.dim=16",
        "data.validation_size=10",
        "train.steps=2",
        "train.batch_size=8",
        "train.tensorboard=false",
    ]
    assert main(["train", "sort", *settings, "--run", str(tmp_path / "sort")]) == 0
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"3 1 2\nthree\n\n[5, 4]\n")))
    assert main(["point", str(tmp_path / "sort")]) == 1
    said = capsys.readouterr()
    lines = said.out.split("\n")
    assert [bool(line) for line in lines] == [True, False, False, True, False]
    assert "standard input, line 2: found 'three'" in said.err
    assert "1 of 4 lines failed" in said.err


def test_questions_as_they_come(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["data.stories=20", "train.steps=2", "train.tensorboard=false"]
    assert main(["train", "stories", *settings, "--run", str(tmp_path / "stories")]) == 0
    good = json.dumps({"story": ["Mary went to the kitchen."], "question": "Where is Mary?"})
    (tmp_path / "in.jsonl").write_text(f"{good}\n{{\n\n{good.replace('Mary?', 'Zoe?')}\n[]\n{good}\n")
    capsys.readouterr()
    assert main(["ask", str(tmp_path / "stories"), "--file", str(tmp_path / "in.jsonl")]) == 1
    said = capsys.readouterr()
    assert [bool(line) for line in said.out.split("\n")[:-1]] == [True, False, False, True, False, True]
    assert "in.jsonl, line 2: not JSON" in said.err
    assert "passes over: zoe" in said.err
    assert "2 of 6 questions failed" in said.err


def test_images_whose_names_come_in_on_a_pipe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = [
        "data.images=40",
        "data.validation_size=10",
        "train.steps=2",
        "train.batch_size=8",
        "train.tensorboard=false",
    ]
    assert main(["train", "classes", *settings, "--run", str(tmp_path / "classes")]) == 0
    Image.new("RGB", (32, 32), "red").save(tmp_path / "red.png")
    (tmp_path / "broken.png").write_bytes(b"PNG")
    capsys.readouterr()
    names = f"{tmp_path}/red.png\n{tmp_path}/broken.png\n{tmp_path}/none.png\n{tmp_path}/red.png\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(names.encode())))
    assert main(["classify", str(tmp_path / "classes"), "-"]) == 1
    said = capsys.readouterr()
    rows = [line.split("\t") for line in said.out.splitlines()]
    assert [row[0] for row in rows] == names.splitlines()
    assert [bool(row[1]) for row in rows] == [True, False, False, True]
    assert "2 of 4 images failed" in said.err
    assert main(["classify", str(tmp_path / "classes"), str(tmp_path / "red.png"), "--png", "x.bmp"]) == 2
    assert "--png: found x.bmp, wanted a name that ends in .png" in capsys.readouterr().err
