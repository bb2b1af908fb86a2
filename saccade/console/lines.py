"""Commands that answer lines as they come: a file or a pipe in, one record for each line out."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from saccade.base.errors import InputError
from saccade.console.outputs import Blank, each, show_nothing, tell_failures
from saccade.console.parser import count
from saccade.console.streams import Incoming, Line

Input = TypeVar("Input")
Output = TypeVar("Output")


def add_line_arguments(
    parser: argparse.ArgumentParser, *, what: str, form: str, batch_size: int, record: str = "with what was looked at"
) -> None:
    """Add MODEL, FILE, --batch-size and --json.

    what, form  the lines are "sentences", "one a line, as UTF-8"
    record      what the JSON has besides the answer
    """
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    help_of_file = f"{what}, {form}; - or nothing: a pipe"
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help=help_of_file)
    parser.add_argument(
        "--batch-size", type=count, default=batch_size, metavar="N", help=f"{what} at a time ({batch_size})"
    )
    parser.add_argument("--json", action="store_true", help=f"JSON lines, {record}")


def answer_lines(
    chosen: argparse.Namespace,
    *,
    read: Callable[[Line], Input],
    answer: Callable[[list[Input]], Sequence[Output]],
    record: Callable[[Output], str | Mapping[str, object]],
    empty: dict[str, object],
    figure: Path | None = None,
) -> int:
    """Answer what has come, piece by piece: one record for each line, in order, whatever is wrong with some.

    read    what a line says; what it raises as an `InputError` is said on stderr, and the record is empty
    record  of an answer: a text, or with --json names and values
    empty   those of a line without an answer
    figure  a file that is drawn of one line; if there are more, nothing is answered

    Gives the exit code.
    """
    incoming = Incoming(chosen.file)
    failed = total = 0
    for lines in incoming.chunks(chosen.batch_size):
        total += len(lines)
        if figure is not None and total > 1:
            raise InputError(f"{figure}: a figure is of one line, and {incoming.name} has more")
        for found in each(answer, [_read(line, read) for line in lines]):
            if isinstance(found, InputError):
                failed += show_nothing(found, empty, as_json=chosen.json)
                continue
            shown = record(found)
            print(shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False))
        sys.stdout.flush()
    return tell_failures(failed, total, "lines")


def _read(line: Line, read: Callable[[Line], Input]) -> Input | InputError:
    if line.is_blank:
        return Blank()
    try:
        return line.error or read(line)
    except InputError as error:
        return error
