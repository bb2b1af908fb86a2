"""Files of sentence pairs, good and bad."""

import json
from pathlib import Path

import pytest

from saccade.data import Pair, expect_full, read_aligned, read_table, write_pairs
from saccade.errors import InputError

PAIRS = [Pair("ein Haus", "a house"), Pair('„Ja" — 日本語', "'yes'")]


def test_two_aligned_files(tmp_path: Path) -> None:
    (tmp_path / "a.de").write_text("".join(f"{pair.source}\n" for pair in PAIRS), encoding="utf-8")
    (tmp_path / "a.en").write_text("\r\n".join(pair.target for pair in PAIRS), encoding="utf-8-sig")
    assert read_aligned(tmp_path / "a.de", tmp_path / "a.en") == PAIRS


def test_lines_end_at_newlines_alone(tmp_path: Path) -> None:
    """Other line breaks of Unicode stand within sentences, and tools that align lines do not count them."""
    (tmp_path / "a").write_text("one\u2028still one\ntwo\x85still two\n", encoding="utf-8")
    (tmp_path / "b").write_text("1\n2\n", encoding="utf-8")
    assert read_aligned(tmp_path / "a", tmp_path / "b")[1] == Pair("two\x85still two", "2")


def test_a_table_and_back(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs.tsv", PAIRS)
    assert read_table(tmp_path / "pairs.tsv") == PAIRS


def test_columns_by_name(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("id\ten\tde\n1\ta house\tein Haus\n")
    assert read_table(tmp_path / "pairs.tsv", source="de", target="en") == PAIRS[:1]
    lines = [json.dumps({"de": pair.source, "en": pair.target, "id": 3}) for pair in PAIRS]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    assert read_table(tmp_path / "pairs.jsonl", source="de", target="en") == PAIRS


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.tsv", b"", "p.tsv is empty"),
        ("p.tsv", b"source\ttarget\n", "p.tsv is empty"),
        ("p.tsv", b"de\ten\na\tb\n", "p.tsv, line 1: no column source and no column target, but 'de, en'"),
        ("p.tsv", b"source\ttarget\na\tb\nc\n", "p.tsv, line 3: found 1 columns, wanted 2"),
        ("p.tsv", b"source\ttarget\na\tb\xe9\n", "p.tsv, line 2: byte 4 (0xe9) is not UTF-8"),
        ("p.jsonl", b'{"source": "a", "target": "b"}\n{"source": \n', "p.jsonl, line 2: not JSON"),
        ("p.jsonl", b'{"source": "a", "target": 7}\n', "p.jsonl, line 1: found no text under 'target'"),
        ("p.jsonl", b'["a", "b"]\n', "p.jsonl, line 1: found a list"),
        ("p.jsonl", b"", "p.jsonl is empty"),
    ],
)
def test_a_bad_table_is_named_with_its_line(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        read_table(tmp_path / name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_files_of_different_length(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")
    (tmp_path / "b").write_text("1\n2\n")
    with pytest.raises(InputError, match=r"a has 3 lines, .*b has 2; line n of one"):
        read_aligned(tmp_path / "a", tmp_path / "b")
    with pytest.raises(InputError, match="nowhere cannot be read: No such file"):
        read_aligned(tmp_path / "nowhere", tmp_path / "b")


def test_empty_lines_are_refused_or_left_out() -> None:
    pairs = [Pair("a", "b"), Pair("c", " \t"), Pair("", "d"), Pair("e", "f")]
    with pytest.raises(InputError, match=r"x: the target of pair 2 is empty \(2 such pairs of 4\).*bad_pairs=skip"):
        expect_full(pairs, where="x")
    assert expect_full(pairs, where="x", skip=True) == [pairs[0], pairs[3]]
    with pytest.raises(InputError, match="no pair has text on both sides"):
        expect_full(pairs[1:3], where="x", skip=True)
