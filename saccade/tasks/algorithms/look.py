"""`saccade look` of a machine that learnt an algorithm: what its heads do with one sequence."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from saccade.base.errors import InputError
from saccade.console.drawing import Drawing
from saccade.console.options import TakesOptions
from saccade.console.parser import count
from saccade.tasks.algorithms.evaluate import MAX_LENGTH, made_episodes
from saccade.tasks.algorithms.figure import save_trace, steps_of
from saccade.tasks.algorithms.model import NeuralTuringMachine
from saccade.tasks.algorithms.problems import Episodes
from saccade.tasks.algorithms.trace import Trace
from saccade.tasks.kind import Look


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--length", type=count, metavar="N", help="of the sequence (the longest learnt)")
    parser.add_argument("--repeats", type=count, metavar="N", help="of repeat-copy: how often (3)")
    parser.add_argument("--seed", type=int, metavar="N", help="another sequence (0)")
    parser.add_argument(
        "--swap",
        type=count,
        nargs=2,
        metavar="N",
        help="of machines that copy: swap what was stored of these two vectors, before the output, and see it follow",
    )


@dataclass(frozen=True)
class Steps(Drawing):
    """What a machine did with one sequence, step by step."""

    trace: Trace
    phases: list[tuple[str, int]]
    problem: str
    title: str

    def figure(self, path: Path) -> None:
        save_trace(path, self.trace, self.phases, title=self.title)

    def show(self) -> None:
        print("\n".join(steps_of(self.trace, self.phases)))
        print(self.title)

    def as_json(self) -> dict[str, Any]:
        phases = [{"name": name, "step": step} for name, step in self.phases]
        return {"problem": self.problem, "title": self.title, "phases": phases, **self.trace.as_json()}


def look_at_machine(chosen: argparse.Namespace, machine: NeuralTuringMachine) -> Steps:
    """Run one sequence that the machine makes itself."""
    if chosen.inputs:
        raise InputError(f"found {chosen.inputs[0]!r}, wanted nothing there: a machine makes its own sequences")
    settings = machine.settings.data
    if chosen.repeats is not None and settings.make != "repeat-copy":
        raise InputError(f"--repeats: this machine learnt {settings.make}; it is for repeat-copy")
    for name in ("length", "repeats"):
        if (getattr(chosen, name) or 1) > MAX_LENGTH:
            raise InputError(f"--{name}: found {getattr(chosen, name)}, wanted 1 to {MAX_LENGTH}")
    length = settings.max_length if chosen.length is None else chosen.length
    repeats = chosen.repeats or min(3, settings.max_repeats)
    episodes = made_episodes(settings, 1, str(chosen.seed or 0), length, repeats)
    trace = machine.trace(episodes.inputs[0])
    wrong = _wrong(trace, episodes)
    bits = int(episodes.scored.sum()) * episodes.targets.shape[2]
    title = f"{settings.make}, length {length}: {wrong} of {bits} bits wrong"
    if chosen.swap is not None:
        trace, moved = swapped(machine, trace, episodes, chosen.swap)
        title += f"; after swapping {chosen.swap[0]} and {chosen.swap[1]} in the memory: {moved}"
    return Steps(trace, episodes.phases, settings.make, title)


def _wrong(trace: Trace, episodes: Episodes) -> int:
    return int(((trace.outputs > 0.5) != (episodes.targets[0] > 0.5))[episodes.scored].sum())


def swapped(machine: NeuralTuringMachine, trace: Trace, episodes: Episodes, items: list[int]) -> tuple[Trace, str]:
    """The same sequence with two locations of the memory swapped before the output, and what came of it."""
    if machine.settings.data.make not in ("copy", "repeat-copy"):
        raise InputError(f"--swap: this machine learnt {machine.settings.data.make}; it is for those that copy")
    if max(items) > episodes.length:
        raise InputError(f"--swap: found {max(items)}, wanted 1 to {episodes.length}, the length of the sequence")
    one, other = (int(trace.write_weights[:, item - 1].sum(0).argmax()) for item in items)
    if one == other:
        raise InputError(
            f"--swap: this machine wrote {items[0]} and {items[1]} to one location, {one}; nothing to swap"
        )

    def swap(memory: np.ndarray) -> np.ndarray:
        memory[[one, other]] = memory[[other, one]]
        return memory

    begins = int(np.flatnonzero(episodes.scored)[0])
    after = machine.trace(episodes.inputs[0], edits={begins - 1: swap})
    vectors = episodes.inputs[0, : episodes.length].copy()
    vectors[[items[0] - 1, items[1] - 1]] = vectors[[items[1] - 1, items[0] - 1]]
    wanted = np.tile(vectors[:, : machine.settings.data.bits], (int(episodes.scored.sum()) // episodes.length, 1))
    found = after.outputs[begins : begins + len(wanted), : machine.settings.data.bits] > 0.5
    off = int((found != (wanted > 0.5)).sum())
    return after, f"locations {one} and {other}, {off} of {wanted.size} bits are not where they went"


LOOK = Look("nothing", look_at_machine, add_options)
