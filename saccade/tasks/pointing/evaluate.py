"""`saccade evaluate` of a pointer network: how many problems it solves."""

import argparse
import json
from collections import Counter
from pathlib import Path

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.console.parser import count
from saccade.tasks.kind import Evaluation
from saccade.tasks.pointing.files import read_problems
from saccade.tasks.pointing.metrics import score_orders
from saccade.tasks.pointing.model import PointerNetwork
from saccade.tasks.pointing.problems import Problem, make_problems

_MADE = 1000  # problems to evaluate on
_BEAM = 5


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--data", type=Path, metavar="FILE", help='JSON lines, {"inputs": [...], "answer": [...]}')
    parser.add_argument(
        "--samples", type=count, metavar="N", help=f"or so many that are made from --seed, never trained on ({_MADE})"
    )
    parser.add_argument("--beam", type=count, metavar="N", help=f"hypotheses kept; 1 is greedy search ({_BEAM})")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the made problems (0)")


def evaluate_orders(chosen: argparse.Namespace, pointer: PointerNetwork) -> None:
    """How many problems are solved without a mistake, in all and by their size."""
    settings, beam = pointer.settings, chosen.beam or _BEAM
    problems = _problems(chosen, pointer)
    found: list[list[int]] = []
    for first in range(0, len(problems), chosen.batch_size):
        part = [problem.inputs for problem in problems[first : first + chosen.batch_size]]
        found += [one.order for one in pointer.point(part, beam=beam)]
    total = score_orders(problems, found, problem=settings.problem)
    sizes = sorted(Counter(len(problem.inputs) for problem in problems).items())
    by_size: list[dict[str, float]] = []
    for size, number in sizes:
        here = [index for index, problem in enumerate(problems) if len(problem.inputs) == size]
        scores = score_orders([problems[n] for n in here], [found[n] for n in here], problem=settings.problem)
        by_size.append({"inputs": size, "problems": number, **scores})
    if chosen.json:
        print(json.dumps({"problems": len(problems), "beam": beam, **total, "by_size": by_size}))
        return
    print(f"{counted(len(problems), 'problem')}, beam {beam}")
    print("\n".join(f"{name:<11} {value:6.2f}" for name, value in total.items()))
    print("  ".join([f"{'inputs':>6}", f"{'problems':>8}", *(f"{name:>11}" for name in total)]))
    for row in by_size:
        figures = (f"{row[name]:11.2f}" for name in total)
        print("  ".join([f"{row['inputs']:>6}", f"{row['problems']:>8}", *figures]))


def _problems(chosen: argparse.Namespace, pointer: PointerNetwork) -> list[Problem]:
    settings = pointer.settings
    if chosen.data is not None:
        if chosen.samples is not None:
            raise InputError("wanted either --data or --samples")
        problems = read_problems(chosen.data, distinct=False)
        for number, problem in enumerate(problems, start=1):
            pointer.preprocess(problem.inputs, f"{chosen.data}, problem {number}")
        return problems
    if settings.problem is None:
        raise InputError(f"{chosen.model} learnt problems of somebody's own; wanted --data FILE, with answers")
    return make_problems(
        settings.problem,
        chosen.samples or _MADE,
        seed=f"test {chosen.seed}",
        min_length=settings.min_length,
        max_length=settings.max_length,
    )


EVALUATION = Evaluation("--data FILE, or --samples N and --seed N", evaluate_orders, add_options)
