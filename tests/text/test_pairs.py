"""Files of sentence pairs, good and bad."""

import gzip
import json
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.text import Pair, expect_full, read_aligned, read_table, write_pairs
from saccade.text.records import LeftOut

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
    (tmp_path / "pairs.jsonl").write_text("\n\n".join(lines) + "\n \n")  # nothing is on those lines
    assert read_table(tmp_path / "pairs.jsonl", source="de", target="en") == PAIRS


def test_packed_files(tmp_path: Path) -> None:
    """What is in them is seen from the name before `.gz`."""
    write_pairs(tmp_path / "pairs.tsv", PAIRS)
    for ending in (".jsonl", ".json"):
        lines = [json.dumps(pair._asdict()) for pair in PAIRS]
        (tmp_path / f"pairs{ending}").write_text("\n".join(lines))
    for name in ("pairs.tsv", "pairs.jsonl", "pairs.json"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        assert read_table(tmp_path / f"{name}.gz") == PAIRS
    for side in Pair._fields:
        (tmp_path / side).write_bytes(gzip.compress("\n".join(getattr(pair, side) for pair in PAIRS).encode()))
    assert read_aligned(tmp_path / "source", tmp_path / "target") == PAIRS
    whole = (tmp_path / "pairs.tsv.gz").read_bytes()
    (tmp_path / "pairs.tsv.gz").write_bytes(whole[:-9])
    with pytest.raises(InputError, match=r"pairs\.tsv\.gz: packed, and not whole"):
        read_table(tmp_path / "pairs.tsv.gz")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.tsv", b"", "p.tsv is empty"),
        ("p.tsv", b"source\ttarget\n", "p.tsv is empty"),
        ("p.tsv", b"de\ten\na\tb\n", "p.tsv, line 1: no column source and no column target, but 'de, en'"),
        ("p.tsv", b"source\ttarget\na\tb\nc\n", "p.tsv, line 3: found 1 columns, wanted 2"),
        ("p.tsv", b"source\ttarget\na\tb\xe9\n", "p.tsv, line 2: byte 4 (0xe9) is not UTF-8"),
        ("p.csv", b"de,en\na,b\n", "p.csv, line 1: no column source and no column target, but 'de, en'"),
        ("p.csv", b'source,target\n"a,b\nc",d\n', "p.csv, line 2: no line of a CSV (unexpected end of data)"),
        ("p.csv", b'source,target\n"a,b"\n', "p.csv, line 2: found 1 columns, wanted 2"),
        ("p.jsonl", b'{"source": "a", "target": "b"}\n{"source": \n', "p.jsonl, line 2: not JSON"),
        ("p.jsonl", b'{"source": "a", "target": 7}\n', "p.jsonl, line 1: found no text under 'target'"),
        ("p.jsonl", b'["a", "b"]\n', "p.jsonl, line 1: found a list"),
        ("p.jsonl", b"", "p.jsonl is empty"),
        ("p.tsv", b"source\ttarget\tsource\na\tb\tc\n", "p.tsv, line 1: two columns are called 'source'"),
        ("p.jsonl", b'{"source": "a\\ud800", "target": "b"}\n', "p.jsonl, line 1: found \\ud800, half of a character"),
        ("p.jsonl", b'{"so\\nurce": "a", "target": "b"}\n', "found no text under 'source', but 'so\\nurce, target'"),
    ],
)
def test_a_bad_table_is_named_with_its_line(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        read_table(tmp_path / name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_cells_of_a_csv_may_have_quotes(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(b'\xef\xbb\xbftarget,"source"\r\n"b, ""c""",a\r\n\n'.removesuffix(b"\n"))
    assert read_table(tmp_path / "p.csv") == [Pair("a", 'b, "c"')]


def test_files_of_different_length(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")
    (tmp_path / "b").write_text("1\n2\n")
    with pytest.raises(InputError, match=r"a has 3 lines, .*b has 2; line n of one"):
        read_aligned(tmp_path / "a", tmp_path / "b")
    with pytest.raises(InputError, match="nowhere cannot be read: No such file"):
        read_aligned(tmp_path / "nowhere", tmp_path / "b")


def test_empty_sides_are_refused() -> None:
    pairs = [Pair("a", "b"), Pair("c", " \t"), Pair("", "d"), Pair("e", "f")]
    with pytest.raises(InputError, match=r"x: the target of pair 2 is empty \(2 such pairs of 4\).*bad_pairs=skip"):
        expect_full(pairs, where="x")
    assert expect_full(pairs[::3], where="x") == pairs[::3]


BAD_TSV = b"source\ttarget\na\tb\nc\nd\te\tf\ng\t \n\nh\xe9\ti\nj\tk"
BAD_JSON = rb"""{"source": "a", "target": "b"}

{"source": "c"}
[]
{"source": "d", "target": "\ud800"}
{
{"source": "", "target": "e"}
{"source": "j", "target": "k"}"""


@pytest.mark.parametrize(
    ("name", "content", "reasons"),
    [
        ("p.tsv", BAD_TSV, "3 with other than 2 columns, 1 empty, 1 not UTF-8"),
        ("p.jsonl", BAD_JSON, "2 not valid JSON, 1 without a text under 'target', 1 no object, 1 empty"),
    ],
)
def test_bad_lines_can_be_left_out_and_are_counted(name: str, content: bytes, reasons: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    left_out = LeftOut()
    pairs = read_table(tmp_path / name, left_out=left_out)
    assert pairs == [Pair("a", "b"), Pair("j", "k")]
    assert left_out.describe(kept=len(pairs)) == f"5 of 7 pairs are left out: {reasons}; the first is line 3"


def test_if_all_pairs_are_bad_there_is_nothing_to_use(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("source\ttarget\n\tx\ny\n")
    says = r"p\.tsv: no pair is left to use; 2 of 2 pairs are left out: 1 empty, 1 with other than 2 columns"
    with pytest.raises(InputError, match=says):
        read_table(tmp_path / "p.tsv", left_out=LeftOut())
    (tmp_path / "p.tsv").write_text("source\ttarget\n")
    with pytest.raises(InputError, match=r"p\.tsv is empty"):
        read_table(tmp_path / "p.tsv", left_out=LeftOut())


def test_bad_lines_of_aligned_files_are_left_out_on_both_sides(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\n\xfftwo\n\nfour\n")
    (tmp_path / "b").write_bytes(b"1\n2\n3\n4\n")
    left_out = LeftOut()
    assert read_aligned(tmp_path / "a", tmp_path / "b", left_out=left_out) == [Pair("one", "1"), Pair("four", "4")]
    told = "2 of 4 pairs are left out: 1 not UTF-8, 1 empty; the first is line 2"
    assert left_out.describe(kept=2) == told
    with pytest.raises(InputError, match="a, line 2: byte 1"):
        read_aligned(tmp_path / "a", tmp_path / "b")
    (tmp_path / "b").write_bytes(b"1\n2\n3\n4\n5\n")  # which belongs to which can no longer be known
    with pytest.raises(InputError, match="a has 4 lines"):
        read_aligned(tmp_path / "a", tmp_path / "b", left_out=LeftOut())


def test_large_counts_can_be_read() -> None:
    left_out = LeftOut()
    for line in range(5, 1405):
        left_out.add("empty", f"line {line}")
    assert left_out.describe(kept=2000) == "1,400 of 3,400 pairs are left out: 1,400 empty; the first is line 5"
