"""Public pairs as they come to `train.tsv`, `valid.tsv` and `test.tsv`, the same from the same on every machine.

Which part a pair belongs to is decided by a digest of its source, so that no source is in two of them.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.text import Pair

LONGEST = 40  # words on either side, of pairs to learn from and to validate with
# words of a source in a test by length: from so many up to the next
BINS: tuple[int, ...] = (0, 10, 20, 30, 40, 50, 60)
OF_EACH_BIN = 300
VALID = 1000
_HELD_OUT = 0.05  # the share of Europarl that the test and the validation are chosen from
_PARTS = ("train", "valid", "test")
_HEAD = "source\ttarget"


def share_of(text: str) -> float:
    """A number from 0 to 1 that every text has for good, as if drawn at random."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") / 2**56


def split_tatoeba(folder: Path) -> None:
    """Lines of `English <tab> other language <tab> whose they are`: a fiftieth to validate with, a fiftieth to test."""
    (listed,) = folder.glob("*.txt")

    def part(source: str) -> str:
        share = share_of(source)
        return "test" if share < 0.02 else "valid" if share < 0.04 else "train"

    _write(folder, ((part(pair.source), pair) for pair in _columns(listed, first=0)))
    listed.unlink()


def split_europarl(folder: Path) -> None:
    """The whole corpus as two files, or a table of pairs to learn from and one by length, to pairs in parts."""
    table, by_length = folder / "train.en-fr.tsv", folder / "by_length.en-fr.tsv"
    english, french = (folder / f"europarl-v7.fr-en.{language}" for language in ("en", "fr"))
    if english.is_file() and french.is_file():
        _write(folder, _parts_of(lambda: _aligned(english, french)))
    elif table.is_file() and by_length.is_file():
        test = [*_columns(by_length, first=1)]
        known = {pair.source for pair in test}
        kept = [pair for pair in _columns(table, first=0) if is_short(pair) and pair.source not in known]
        held_out = {pair.source for pair in sorted(kept, key=lambda pair: share_of(pair.source))[:VALID]}
        _write(folder, [*(("valid" if one.source in held_out else "train", one) for one in kept)])
        _write(folder, [("test", pair) for pair in test])
    else:
        there = ", ".join(sorted(path.name for path in folder.iterdir()))
        raise InputError(f"europarl-en-fr: found {there}, wanted {english.name} and {french.name}")
    for path in (table, by_length, english, french):
        path.unlink(missing_ok=True)


def is_short(pair: Pair) -> bool:
    return max(len(pair.source.split()), len(pair.target.split())) <= LONGEST


def _parts_of(pairs: Callable[[], Iterator[Pair]]) -> Iterator[tuple[str, Pair]]:
    """Each pair with its part: some of every length to test, short ones to validate with and to learn from."""
    pool: dict[str, Pair] = {}  # by their sources, each once
    for pair in pairs():
        if share_of(pair.source) < _HELD_OUT:
            pool.setdefault(pair.source, pair)
    held_out: dict[str, str] = {}  # the part of a source
    room: dict[int, int] = dict.fromkeys(BINS, OF_EACH_BIN)
    validation = VALID
    for source in sorted(pool, key=share_of):
        least = max(start for start in BINS if start <= len(source.split()))
        if room[least]:
            room[least] -= 1
            held_out[source] = "test"
        elif validation and is_short(pool[source]):
            validation -= 1
            held_out[source] = "valid"
    yield from ((part, pool[source]) for source, part in held_out.items())
    yield from (("train", pair) for pair in pairs() if pair.source not in held_out and is_short(pair))


def _aligned(source: Path, target: Path) -> Iterator[Pair]:
    """The pairs of two files, line by line; those without text on both sides are passed over."""
    with source.open(encoding="utf-8", newline="\n") as sources, target.open(encoding="utf-8", newline="\n") as targets:
        try:
            for one, other in zip(sources, targets, strict=True):
                pair = Pair(_tidy(one), _tidy(other))
                if pair.source and pair.target:
                    yield pair
        except ValueError as error:  # of zip, and of text that is not UTF-8
            names = f"{source.name} and {target.name}"
            raise InputError(f"{names}: not the same lines in both ({error}); get them anew") from None


def _columns(path: Path, *, first: int) -> Iterator[Pair]:
    """Two columns of a table without a head; lines without text in both are passed over."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            cells = line.rstrip("\r\n").split("\t")
            if len(cells) < first + 2:
                raise InputError(f"{path.name}, line {number}: no pair of sentences with a tab between; get it anew")
            pair = Pair(_tidy(cells[first]), _tidy(cells[first + 1]))
            if pair.source and pair.target:
                yield pair


def _tidy(text: str) -> str:
    """Without tabs, and with single spaces."""
    return " ".join(text.split())


def _write(folder: Path, pairs: Iterable[tuple[str, Pair]]) -> None:
    """Write each pair to the file of its part: those that there are not yet."""
    with ExitStack() as stack:
        files = {}
        for part, pair in pairs:
            if part not in files:
                files[part] = stack.enter_context((folder / f"{part}.tsv").open("w", encoding="utf-8"))
                print(_HEAD, file=files[part])
            print(f"{pair.source}\t{pair.target}", file=files[part])


def check_splits(folder: Path) -> str:
    """All three parts are there, and have pairs."""
    said: list[str] = []
    for part in _PARTS:
        path = folder / f"{part}.tsv"
        if not path.is_file():
            raise InputError(f"{path.name}: no such file")
        with path.open(encoding="utf-8", newline="\n") as lines:
            head, number = next(lines, "").strip(), sum(line.count("\t") == 1 for line in lines)
        if head != _HEAD or not number:
            raise InputError(f"{path.name}: no pairs there; get it anew")
        said.append(f"{counted(number, 'pair')} in {part}.tsv")
    return ", ".join(said)
