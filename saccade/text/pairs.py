"""Pairs of sentences, and the files that hold them: two line-aligned files, a TSV or CSV, or JSON lines."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from saccade.base.errors import InputError
from saccade.base.files import read_text_file, split_lines, write_file
from saccade.text.records import BadRecordError, LeftOut, decode_record
from saccade.text.tables import open_table

_Line = TypeVar("_Line")

_CHOOSE = (
    "choose two of them (data.source_column and data.target_column in training, --source-column and --target-column"
    " elsewhere), or take two line-aligned files"
)
_MEND = "mend it, or in training leave such pairs out with data.bad_pairs=skip"


class Pair(NamedTuple):
    """A sentence, and what it is to become."""

    source: str
    target: str


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """Write a TSV with the columns `source` and `target`."""
    lines = ["source\ttarget", *(f"{pair.source}\t{pair.target}" for pair in pairs)]
    write_file(path, "".join(f"{line}\n" for line in lines).encode())


def read_aligned(source: Path, target: Path, *, left_out: LeftOut | None = None) -> list[Pair]:
    """The pairs of two files with a sentence a line, the same number in both.

    Pairs that cannot be read or have no text on one side are noted in `left_out` and left out. Without it, the first
    that cannot be read is an `InputError`, and empty sides stay.
    """
    sources, targets = _lines(source), _lines(target)
    if len(sources) != len(targets):
        raise InputError(
            f"{source} has {len(sources)} lines, {target} has {len(targets)};"
            " line n of one has to be the translation of line n of the other"
        )

    def pair(sides: tuple[bytes, bytes], number: int) -> Pair:
        return Pair(
            decode_record(sides[0], f"{source}, line {number}"), decode_record(sides[1], f"{target}, line {number}")
        )

    return _pairs(list(enumerate(zip(sources, targets, strict=True), start=1)), pair, source, left_out)


def read_table(
    path: Path, *, source: str = "source", target: str = "target", left_out: LeftOut | None = None
) -> list[Pair]:
    """The pairs of a TSV or CSV whose first line names its columns, or of a JSON lines file (`.jsonl`, `.json`).

    `source` and `target` are the names of the two columns. `left_out` is as in `read_aligned`.
    """
    table = open_table(path, [source, target], choose=_CHOOSE, mend=_MEND)
    return _pairs(table.lines, lambda line, number: Pair(*table.cells(line, number)), path, left_out)


def _lines(path: Path) -> list[bytes]:
    """The lines of a file, not decoded yet: one may be bad and the others good."""
    return split_lines(read_text_file(path))


def _pairs(
    lines: Sequence[tuple[int, _Line]], pair_of: Callable[[_Line, int], Pair], path: Path, left_out: LeftOut | None
) -> list[Pair]:
    """What `pair_of` makes of each numbered line; where it refuses one, that is noted, if it may be left out."""
    pairs: list[Pair] = []
    for number, line in lines:
        try:
            pair = pair_of(line, number)
        except BadRecordError as bad:
            if left_out is None:
                raise
            left_out.add(bad.reason, f"line {number}")
            continue
        if left_out is None or _is_full(pair):
            pairs.append(pair)
        else:
            left_out.add("empty", f"line {number}")
    if left_out is not None and left_out.first is not None and not pairs:
        raise InputError(f"{path}: no pair is left to use; {left_out.describe(kept=0)}")
    if not pairs:
        raise InputError(f"{path} is empty; it needs a sentence a line")
    return pairs


def _is_full(pair: Pair) -> bool:
    return bool(pair.source.strip() and pair.target.strip())


def expect_full(pairs: Sequence[Pair], *, where: str) -> list[Pair]:
    """The pairs, if all have text on both sides; one that has not is an `InputError` with its number."""
    empty = [number for number, pair in enumerate(pairs, start=1) if not _is_full(pair)]
    if empty:
        side = "target" if pairs[empty[0] - 1].source.strip() else "source"
        raise InputError(
            f"{where}: the {side} of pair {empty[0]} is empty ({len(empty)} such pairs of {len(pairs)});"
            " mend the file, or leave such pairs out with data.bad_pairs=skip"
        )
    return list(pairs)
