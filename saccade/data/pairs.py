"""Pairs of sentences, and the files that hold them: two line-aligned files, a TSV, or JSON lines."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from saccade.errors import InputError
from saccade.files import read_lines, write_file


class Pair(NamedTuple):
    """A sentence, and what it is to become."""

    source: str
    target: str


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """Write a TSV with the columns `source` and `target`."""
    lines = ["source\ttarget", *(f"{pair.source}\t{pair.target}" for pair in pairs)]
    write_file(path, "".join(f"{line}\n" for line in lines).encode())


def read_aligned(source: Path, target: Path) -> list[Pair]:
    """The pairs of two files with a sentence a line, the same number in both."""
    sources, targets = read_lines(source), read_lines(target)
    if len(sources) != len(targets):
        raise InputError(
            f"{source} has {len(sources)} lines, {target} has {len(targets)};"
            " line n of one has to be the translation of line n of the other"
        )
    return _expect_some([Pair(*pair) for pair in zip(sources, targets, strict=True)], source)


def read_table(path: Path, *, source: str = "source", target: str = "target") -> list[Pair]:
    """The pairs of a TSV whose first line names its columns, or of a JSON lines file (`.jsonl`, `.json`).

    `source` and `target` are the names of the two columns. Quotes in a TSV are letters like others.
    """
    lines = read_lines(path)
    if path.suffix in {".jsonl", ".json"}:
        pairs = [_pair_of_json(line, f"{path}, line {n}", source, target) for n, line in enumerate(lines, start=1)]
        return _expect_some(pairs, path)
    header = lines[0].split("\t") if lines else []
    missing = [name for name in (source, target) if name not in header]
    if lines and missing:
        raise InputError(
            f"{path}, line 1: no column {' and no column '.join(missing)}, but {', '.join(header)[:200]!r};"
            " the first line of a TSV names its columns: choose two of them (data.source_column and"
            " data.target_column in training, --source-column and --target-column elsewhere),"
            " or take two line-aligned files"
        )
    pairs: list[Pair] = []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: found {len(cells)} columns, wanted {len(header)}, as in line 1")
        pairs.append(Pair(cells[header.index(source)], cells[header.index(target)]))
    return _expect_some(pairs, path)


def _pair_of_json(line: str, where: str, source: str, target: str) -> Pair:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {error}; each line has to be one object") from None
    if not isinstance(record, dict):
        raise InputError(f'{where}: found a {type(record).__name__}, wanted an object like {{"{source}": "...", ...}}')
    for name in (source, target):
        if not isinstance(record.get(name), str):
            raise InputError(
                f"{where}: found no text under {name!r}, but {', '.join(map(str, record))[:200]};"
                " choose two of these (data.source_column and data.target_column in training, --source-column and"
                " --target-column elsewhere)"
            )
    return Pair(record[source], record[target])


def _expect_some(pairs: list[Pair], path: Path) -> list[Pair]:
    if not pairs:
        raise InputError(f"{path} is empty; it needs a sentence a line")
    return pairs


def expect_full(pairs: Sequence[Pair], *, where: str, skip: bool = False) -> list[Pair]:
    """The pairs that have text on both sides; without `skip`, one that has not is an `InputError` with its number."""
    full = [pair for pair in pairs if pair.source.strip() and pair.target.strip()]
    if len(full) < len(pairs) and not skip:
        number = next(n for n, pair in enumerate(pairs, start=1) if not (pair.source.strip() and pair.target.strip()))
        side = "target" if pairs[number - 1].source.strip() else "source"
        raise InputError(
            f"{where}: the {side} of pair {number} is empty ({len(pairs) - len(full)} such pairs of {len(pairs)});"
            " mend the file, or leave such pairs out with data.bad_pairs=skip"
        )
    if not full:
        raise InputError(f"{where}: no pair has text on both sides")
    return full
