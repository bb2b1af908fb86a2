"""Records in tables: TSV and CSV, whose first line names the columns, and JSON lines. Each stands in a line."""

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from saccade.base.compressed import plain_path
from saccade.base.errors import InputError
from saccade.base.files import decode_line, read_text_file, split_lines
from saccade.text.records import BadRecordError, decode_record, texts_of_json


class Table(NamedTuple):
    """The records of a file, not decoded yet: one may be bad and the others good."""

    lines: list[tuple[int, bytes]]  # with their numbers in the file
    cells: Callable[[bytes, int], list[str]]  # what a line, of that number, has in the columns that were asked for


def open_table(path: Path, columns: list[str], *, choose: str, mend: str, whole_numbers: bool = False) -> Table:
    """The table in a file, for these of its columns. It is of JSON lines if it is called `.jsonl` or `.json`, else TSV
    or, as `.csv`, CSV. Quotes in a TSV are letters like others; a cell of a CSV may have them around it.

    choose         how other columns are chosen, for messages
    mend           and what is done about a line that has too many cells, or too few
    whole_numbers  in JSON lines, these are texts, too
    """
    lines = list(enumerate(split_lines(read_text_file(path)), start=1))
    ending = plain_path(path).suffix
    if ending in {".jsonl", ".json"}:

        def of_json(line: bytes, number: int) -> list[str]:
            where = f"{path}, line {number}"
            return texts_of_json(decode_record(line, where), where, columns, remedy=choose, whole_numbers=whole_numbers)

        return Table([line for line in lines if line[1].strip()], of_json)
    split = _split_csv if ending == ".csv" else _split_tsv
    if not lines:
        return Table([], partial(_cells, path, [], columns, split, mend))
    header = split(decode_line(lines[0][1], f"{path}, line 1"), f"{path}, line 1")
    missing = [name for name in columns if name not in header]
    if missing:
        raise InputError(
            f"{path}, line 1: no column {' and no column '.join(missing)}, but {', '.join(header)[:200]!r};"
            f" the first line of a {'CSV' if ending == '.csv' else 'TSV'} names its columns: {choose}"
        )
    twice = [name for name in columns if header.count(name) > 1]
    if twice:
        raise InputError(f"{path}, line 1: two columns are called {twice[0]!r}; wanted one")
    return Table(lines[1:], partial(_cells, path, header, columns, split, mend))


def _cells(
    path: Path,
    header: list[str],
    columns: list[str],
    split: Callable[[str, str], list[str]],
    mend: str,
    line: bytes,
    number: int,
) -> list[str]:
    where = f"{path}, line {number}"
    cells = split(decode_record(line, where), where)
    if len(cells) != len(header):
        message = f"{where}: found {len(cells)} columns, wanted {len(header)}, as in line 1; {mend}"
        raise BadRecordError(message, reason=f"with other than {len(header)} columns")
    return [cells[header.index(name)] for name in columns]


def _split_tsv(line: str, where: str) -> list[str]:
    return line.split("\t")


def _split_csv(line: str, where: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True), [""])
    except csv.Error as error:
        message = f"{where}: no line of a CSV ({error}); a cell with a line break in it has to be in JSON lines"
        raise BadRecordError(message, reason="not valid CSV") from None
