"""`saccade point`: Sort numbers, find hulls, or answer other problems by pointing at their inputs, in order."""

import argparse
from collections.abc import Mapping

from saccade.console.drawing import add_figure_options, expect_files, figures_of, write_figures
from saccade.console.lines import add_line_arguments, answer_lines
from saccade.console.parser import count
from saccade.console.streams import Line
from saccade.tasks.load import load
from saccade.tasks.pointing.files import parse_inputs
from saccade.tasks.pointing.look import order_of
from saccade.tasks.pointing.maps import plain_number
from saccade.tasks.pointing.model import PointerNetwork
from saccade.tasks.pointing.result import PointerOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    form = "one a line: 3 1 2, or [[0.1, 0.7], [0.4, 0.2]], or JSON with inputs"
    record = "with the score and what was looked at"
    add_line_arguments(parser, what="problems", form=form, batch_size=128, record=record)
    parser.add_argument("--beam", type=count, default=1, metavar="N", help="hypotheses kept; 1 is greedy search (1)")
    add_figure_options(parser, of="of one problem, its points or what was looked at: ")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Answer each problem, and draw if there is one only."""
    expect_files(chosen)
    figures = figures_of(chosen)
    pointer = load(chosen.model, PointerNetwork)
    attention = chosen.json or bool(figures)

    def read(line: Line) -> list[list[float]]:
        return pointer.preprocess(parse_inputs(line.text, line.where), line.where)

    def answer(problems: list[list[list[float]]]) -> list[PointerOutput]:
        found = pointer.point(problems, beam=chosen.beam, attention=attention)
        for one in found[:1] if figures else []:
            write_figures(order_of(one, pointer), chosen)
        return found

    return answer_lines(
        chosen,
        read=read,
        answer=answer,
        record=lambda found: _record(found, pointer, as_json=chosen.json),
        empty={"inputs": None, "order": []},
        figure=next(iter(figures), None),
    )


def _record(found: PointerOutput, pointer: PointerNetwork, *, as_json: bool) -> str | Mapping[str, object]:
    values = [found.inputs[index][0] for index in found.order] if pointer.settings.problem == "sort" else None
    if as_json:
        return found.as_json() | ({} if values is None else {"sorted": values})
    order = " ".join(map(str, found.order))
    return order if values is None else f"{order}\t{' '.join(map(plain_number, values))}"
