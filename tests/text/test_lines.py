"""Plain text, a text a line: files, folders, packed ones, and lines that are left out."""

import gzip
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.text import read_texts


def test_lines_of_files_and_of_a_folder_packed_or_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one  dog\ntwo\tdogs \n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("drei Hündchen".encode()))
    (tmp_path / "train.en").write_text("no name of text\n")
    said: list[str] = []
    assert read_texts(tmp_path, tell=said.append) == ["one dog", "two dogs", "drei Hündchen"]
    assert len(said) == 1
    assert "train.en" in said[0]
    assert read_texts(tmp_path, names=["*.en"]) == ["no name of text"]
    assert read_texts(tmp_path / "train.en") == ["no name of text"]


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n\ntwo\n\xff\n \n")
    with pytest.raises(InputError, match=r"a\.txt, line 4: byte 1 \(0xff\) is not UTF-8"):
        read_texts(path)
    said: list[str] = []
    assert read_texts(path, skip=True, tell=said.append) == ["one", "two"]
    assert said == [f"{path}: 3 of 5 lines are left out: 2 empty, 1 not UTF-8; the first is line 2"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", r"a\.txt: found no text, wanted a text a line$"),
        ("a.txt", "\n \n", r"found no text, wanted a text a line; 2 of 2 lines are left out: 2 empty"),
        ("a.jsonl", '{"text": "one"}\n', r"a\.jsonl: found a file of records, wanted plain text, a text a line"),
    ],
)
def test_files_without_plain_text_are_refused(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_texts(tmp_path / name)
