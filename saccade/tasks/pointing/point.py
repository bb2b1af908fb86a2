"""`saccade point`: Sort numbers, find hulls, or answer other problems by pointing at their inputs, in order."""

import argparse
import json
import sys
from pathlib import Path

from saccade.base.errors import InputError
from saccade.shell.drawing import add_figure_options, expect_files, figures_of, write_figures
from saccade.shell.outputs import Blank, each, show_nothing, tell_failures
from saccade.shell.parser import count
from saccade.shell.streams import Incoming, Line
from saccade.tasks.load import load
from saccade.tasks.pointing.files import parse_inputs
from saccade.tasks.pointing.look import order_of
from saccade.tasks.pointing.maps import plain_number
from saccade.tasks.pointing.model import Pointer
from saccade.tasks.pointing.result import Pointed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="problems, one a line: 3 1 2, or [[0.1, 0.7], [0.4, 0.2]], or JSON with inputs; - or nothing: a pipe",
    )
    parser.add_argument("--beam", type=count, default=1, metavar="N", help="hypotheses kept; 1 is greedy search (1)")
    parser.add_argument("--batch", type=count, default=128, metavar="N", help="problems at a time (128)")
    parser.add_argument("--json", action="store_true", help="JSON lines, with the score and what was looked at")
    add_figure_options(parser, of="of one problem, its points or what was looked at: ")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Answer what has come, piece by piece: one record for each line, in their order, whatever is wrong with some."""
    expect_files(chosen)
    figures = figures_of(chosen)
    pointer = load(chosen.model, Pointer)
    incoming = Incoming(chosen.file)
    attention = chosen.json or bool(figures)
    failed = total = 0
    for lines in incoming.chunks(chosen.batch):
        total += len(lines)
        if figures and total > 1:
            raise InputError(f"{figures[0]}: a figure is of one problem, and {incoming.name} has more")
        problems = [_read(line, pointer) for line in lines]
        found = each(lambda some: pointer.point(some, beam=chosen.beam, attention=attention), problems)
        for problem, one in zip(problems, found, strict=True):
            if isinstance(one, InputError):
                failed += show_nothing(one, {"inputs": None, "order": []}, as_json=chosen.json)
                continue
            assert not isinstance(problem, InputError)  # what cannot be read has no answer
            _show(problem, one, pointer, as_json=chosen.json)
            if figures:
                write_figures(order_of(one, pointer), chosen)
        sys.stdout.flush()
    return tell_failures(failed, total, "lines")


def _read(line: Line, pointer: Pointer) -> list[list[float]] | InputError:
    if line.is_blank:
        return Blank()
    try:
        return line.error or pointer.read(parse_inputs(line.text, line.where), line.where)
    except InputError as error:
        return error


def _show(problem: list[list[float]], found: Pointed, pointer: Pointer, *, as_json: bool) -> None:
    values = [problem[place][0] for place in found.order] if pointer.settings.problem == "sort" else None
    if as_json:
        print(json.dumps(found.as_json() | ({} if values is None else {"sorted": values})))
        return
    order = " ".join(map(str, found.order))
    print(order if values is None else f"{order}\t{' '.join(map(plain_number, values))}")
