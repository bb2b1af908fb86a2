"""Public pairs: how corpora are cut into parts that have no source in common, and the real files where they are."""

from collections import Counter
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.tasks.translation import public_pairs
from saccade.tasks.translation.public_pairs import check_splits, share_of, split_europarl, split_tatoeba
from saccade.text import Pair, read_table

SHARED = Path(__file__).parents[4] / "shared" / "data"


def parts_of(folder: Path) -> dict[str, list[Pair]]:
    return {
        part: read_table(folder / f"{part}.tsv", source="source", target="target")
        for part in ("train", "valid", "test")
    }


def test_shares_are_even_and_the_same_everywhere() -> None:
    shares = [share_of(f"sentence {number}") for number in range(2000)]
    assert all(0 <= share < 1 for share in shares)
    tenths = Counter(int(share * 10) for share in shares)
    assert all(150 < tenths[tenth] < 250 for tenth in range(10))
    assert share_of("a") == pytest.approx(0xCA978112 / 2**32)  # the SHA-256 of "a" begins so


def test_tatoeba_becomes_three_parts(tmp_path: Path) -> None:
    lines = [f"Sentence {number}.\tPhrase {number} {way}.\tCC-BY 2.0" for number in range(500) for way in ("a", "b")]
    (tmp_path / "fra.txt").write_text("\n".join([*lines, "\t\tempty", ""]))
    split_tatoeba(tmp_path)
    said = check_splits(tmp_path)
    parts = parts_of(tmp_path)
    assert sum(map(len, parts.values())) == 1000
    assert said == ", ".join(f"{len(pairs):,} pairs in {part}.tsv" for part, pairs in parts.items())
    sources = [{pair.source for pair in pairs} for pairs in parts.values()]
    assert sum(map(len, sources)) == 500  # both translations of a source are in one part
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test.tsv", "train.tsv", "valid.tsv"]


def write_corpus(folder: Path, count: int) -> list[Pair]:
    """Sentences of 1 to 70 words, some twice."""
    pairs = [Pair(f"{number} " + "w " * (number % 70), f"{number} " + "m " * (number % 67)) for number in range(count)]
    pairs = [*pairs, *pairs[: count // 10], Pair("", "nothing on one side")]
    for side, language in enumerate(("en", "fr")):
        (folder / f"europarl-v7.fr-en.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    return pairs


def test_europarl_is_cut_by_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_pairs, "_HELD_OUT", 0.3)
    monkeypatch.setattr(public_pairs, "OF_EACH_BIN", 5)
    monkeypatch.setattr(public_pairs, "VALID", 7)
    pairs = write_corpus(tmp_path, 1500)
    split_europarl(tmp_path)
    parts = parts_of(tmp_path)
    lengths = Counter(min(len(pair.source.split()) // 10 * 10, 60) for pair in parts["test"])
    assert lengths == dict.fromkeys(public_pairs.BINS, 5)
    assert len(parts["valid"]) == 7
    held_out = {pair.source for part in ("valid", "test") for pair in parts[part]}
    assert len(held_out) == 5 * 7 + 7
    short = [
        Pair(" ".join(pair.source.split()), " ".join(pair.target.split()))
        for pair in pairs
        if pair.source and max(len(pair.source.split()), len(pair.target.split())) <= 40
    ]
    assert parts["train"] == [pair for pair in short if pair.source not in held_out]
    assert all(len(pair.source.split()) <= 40 for pair in parts["valid"])

    again = tmp_path / "again"
    again.mkdir()
    write_corpus(again, 1500)
    split_europarl(again)
    assert parts_of(again) == parts


def test_what_is_no_corpus_is_refused(tmp_path: Path) -> None:
    (tmp_path / "europarl-v7.fr-en.en").write_text("one\ntwo\n")
    with pytest.raises(InputError, match=r"europarl-en-fr: found europarl-v7\.fr-en\.en, wanted"):
        split_europarl(tmp_path)
    (tmp_path / "europarl-v7.fr-en.fr").write_text("un\n")
    with pytest.raises(InputError, match=r"not the same lines in both .*get them anew"):
        split_europarl(tmp_path)
    (tmp_path / "europarl-v7.fr-en.fr").write_bytes(b"un\nd\xff\n")
    with pytest.raises(InputError, match=r"not the same lines in both"):
        split_europarl(tmp_path)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "fra.txt").write_text("Go.\tVa.\tx\nno tab here\n")
    with pytest.raises(InputError, match=r"fra\.txt, line 2: no pair of sentences with a tab between"):
        split_tatoeba(tmp_path / "t")
    with pytest.raises(InputError, match=r"train\.tsv: no such file"):
        check_splits(tmp_path)


def test_without_a_network_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9/")  # where nobody listens
    assert main(["data", "get", "multi30k", "--out", str(tmp_path / "here")]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "cannot be fetched" in last
    assert "get it by hand, https://github.com/multi30k/dataset, and name its folder: --from DIR" in last


@pytest.mark.parametrize(
    ("name", "folder", "says"),
    [
        ("multi30k", "multi30k", "9 files, as published"),
        ("europarl-en-fr", "europarl", "1,000 pairs in valid.tsv, 2,100 pairs in test.tsv"),
    ],
)
def test_the_real_files_are_those_that_are_expected(
    name: str, folder: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not (SHARED / folder).is_dir():
        pytest.skip(f"no {folder} in ../shared/data")
    assert main(["data", "get", name, "--out", str(tmp_path), "--from", str(SHARED / folder)]) == 0
    assert says in capsys.readouterr().out
