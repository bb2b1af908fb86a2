"""`saccade evaluate` of a machine: wrong bits, length by length."""

import argparse
import json
from typing import Any

import numpy as np

from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.console.parser import count
from saccade.metrics import score_bits
from saccade.tasks.algorithms.model import NeuralTuringMachine
from saccade.tasks.algorithms.problems import AlgorithmSettings, Episodes, make_episodes
from saccade.tasks.kind import Evaluation

_SEQUENCES = 100  # to evaluate on, of each length
MAX_LENGTH = 10_000
_AT_ONCE = 20  # sequences


def add_options(parser: TakesOptions) -> None:
    parser.add_argument(
        "--lengths",
        type=_lengths,
        metavar="N,N",
        help="the lengths to try, such as 10,20,120 (the longest of training, and up to six times that)",
    )
    parser.add_argument("--samples", type=count, metavar="N", help=f"sequences of each length ({_SEQUENCES})")


def _lengths(text: str) -> list[int]:
    try:
        lengths = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted lengths such as 10,20,120") from None
    wrong = [length for length in lengths if not 1 <= length <= MAX_LENGTH]
    if wrong:
        raise argparse.ArgumentTypeError(f"found {wrong[0]}, wanted 1 to {MAX_LENGTH}")
    return lengths


def evaluate_machine(chosen: argparse.Namespace, machine: NeuralTuringMachine) -> None:
    """Bits per sequence and wrong bits, length by length."""
    max_length = machine.settings.data.max_length
    lengths = chosen.lengths or [max_length * times for times in (1, 2, 4, 6)]
    sequences = chosen.samples or _SEQUENCES
    rows: list[dict[str, Any]] = []
    for length in lengths:
        logits, targets = zip(
            *(
                machine.answers(
                    made_episodes(machine.settings.data, min(_AT_ONCE, sequences - done), f"{done}", length)
                )
                for done in range(0, sequences, _AT_ONCE)
            ),
            strict=True,
        )
        score = score_bits(np.concatenate(logits), np.concatenate(targets))
        rows.append({"length": length, "bits": score.bits, "wrong": score.wrong})
    if chosen.json:
        print(json.dumps({"problem": machine.settings.data.make, "sequences": sequences, "by_length": rows}))
        return
    print(f"{machine.settings.data.make}, {sequences} sequences of each length; trained to length {max_length}")
    print(f"{'length':>6}  {'bits a sequence':>15}  {'wrong bits':>10}")
    for row in rows:
        print(f"{row['length']:>6}  {row['bits']:>15.4f}  {row['wrong']:>8.2f} %")


def made_episodes(
    settings: AlgorithmSettings, sequences: int, seed: str, length: int, repeats: int | None = None
) -> Episodes:
    """Problems that no training saw; a length that the problem does not have is refused."""
    least = settings.shortest_possible()
    if length < least:
        raise InputError(f"length: found {length}, wanted at least {least} for {settings.make}")
    # as many repeats as in training, at most: all sequences of a length are to be equally hard
    return make_episodes(
        settings, sequences, seed=f"test {seed}", length=length, repeats=repeats or settings.max_repeats
    )


EVALUATION = Evaluation("--lengths N,N, and --samples N of each", evaluate_machine, add_options)
