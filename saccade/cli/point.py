"""`saccade point`: Sort numbers, find hulls, or answer other problems by pointing at their inputs, in order."""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from saccade.cli.outputs import Blank, each, expect_outputs, show_nothing, tell_failures
from saccade.cli.parser import count
from saccade.cli.streams import Incoming, Line
from saccade.data import Problem, make_problems, parse_inputs, read_problems
from saccade.errors import InputError
from saccade.look import AttentionMap, save_figure, save_order
from saccade.look.maps import END_LABEL
from saccade.models import Pointed, Pointer, load_as
from saccade.tasks import score_orders

_MADE = 1000  # problems to evaluate on


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
    parser.add_argument(
        "--figure", type=Path, metavar="FILE", help="of one problem: its points, or what was looked at; PNG, SVG or PDF"
    )
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Answer what has come, piece by piece: one record for each line, in their order, whatever is wrong with some."""
    expect_outputs(figures=[chosen.figure])
    pointer = load_as(Pointer, chosen.model)
    incoming = Incoming(chosen.file)
    attention = chosen.json or chosen.figure is not None
    failed = total = 0
    for lines in incoming.chunks(chosen.batch):
        total += len(lines)
        if chosen.figure is not None and total > 1:
            raise InputError(f"{chosen.figure}: a figure is of one problem, and {incoming.name} has more")
        problems = [_read(line, pointer) for line in lines]
        found = each(lambda some: pointer.point(some, beam=chosen.beam, attention=attention), problems)
        for problem, one in zip(problems, found, strict=True):
            if isinstance(one, InputError):
                failed += show_nothing(one, {"inputs": None, "order": []}, as_json=chosen.json)
                continue
            assert not isinstance(problem, InputError)  # what cannot be read has no answer
            _show(problem, one, pointer, as_json=chosen.json)
            if chosen.figure is not None:
                _draw(chosen.figure, problem, one, pointer)
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
        record: dict[str, Any] = {"inputs": problem, "order": found.order, "score": round(found.score, 6)}
        record |= {} if values is None else {"sorted": values}
        seen = None if found.attention is None else found.attention.astype(float).round(4).tolist()
        print(json.dumps(record | {"attention": seen}))
        return
    order = " ".join(map(str, found.order))
    print(order if values is None else f"{order}\t{' '.join(map(_plain, values))}")


def _plain(number: float) -> str:
    return repr(number).removesuffix(".0")


def _draw(figure: Path, problem: list[list[float]], found: Pointed, pointer: Pointer) -> None:
    assert found.attention is not None
    if pointer.settings.model.inputs == 2:
        save_order(figure, problem, found.order, closed=pointer.settings.problem == "hull")
    else:
        inputs = [", ".join(map(_plain, one)) for one in problem]
        rows = [*(inputs[place] for place in found.order), END_LABEL]
        save_figure(figure, AttentionMap(rows, [*inputs, END_LABEL], found.attention))
    print(f"written: {figure}", file=sys.stderr)


def add_problem_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --inputs and --problems, for `saccade evaluate`."""
    parser.add_argument(
        "--inputs", type=Path, metavar="FILE", help='of a pointer: JSON lines, {"inputs": [...], "answer": [...]}'
    )
    parser.add_argument(
        "--problems", type=count, metavar="N", help=f"or so many that are made from --seed, never trained on ({_MADE})"
    )


def evaluate_orders(chosen: argparse.Namespace, pointer: Pointer) -> None:
    """How many problems are solved without a mistake, in all and by their size."""
    settings, beam = pointer.settings, chosen.beam or chosen.usual_beam
    problems = _problems(chosen, pointer)
    found: list[list[int]] = []
    for first in range(0, len(problems), chosen.batch):
        part = [problem.inputs for problem in problems[first : first + chosen.batch]]
        found += [one.order for one in pointer.point(part, beam=beam, attention=False)]
    total = score_orders(problems, found, problem=settings.problem)
    sizes = sorted(Counter(len(problem.inputs) for problem in problems).items())
    by_size: list[dict[str, float]] = []
    for size, number in sizes:
        here = [place for place, problem in enumerate(problems) if len(problem.inputs) == size]
        scores = score_orders([problems[n] for n in here], [found[n] for n in here], problem=settings.problem)
        by_size.append({"inputs": size, "problems": number, **scores})
    if chosen.json:
        print(json.dumps({"problems": len(problems), "beam": beam, **total, "by_size": by_size}))
        return
    print(f"{len(problems)} problems, beam {beam}")
    print("\n".join(f"{name:<7} {value:6.2f}" for name, value in total.items()))
    print("  ".join([f"{'inputs':>6}", f"{'problems':>8}", *(f"{name:>6}" for name in total)]))
    for row in by_size:
        figures = (f"{row[name]:6.2f}" for name in total)
        print("  ".join([f"{row['inputs']:>6}", f"{row['problems']:>8}", *figures]))


def _problems(chosen: argparse.Namespace, pointer: Pointer) -> list[Problem]:
    settings = pointer.settings
    if chosen.inputs is not None:
        if chosen.problems is not None:
            raise InputError("wanted either --inputs or --problems")
        problems = read_problems(chosen.inputs, once=False)
        for number, problem in enumerate(problems, start=1):
            pointer.read(problem.inputs, f"{chosen.inputs}, problem {number}")
        return problems
    if settings.problem is None:
        raise InputError(f"{chosen.model} learnt problems of somebody's own; wanted --inputs FILE, with answers")
    return make_problems(
        settings.problem,
        chosen.problems or _MADE,
        seed=f"test {chosen.seed}",
        fewest=settings.fewest,
        most=settings.most,
    )
