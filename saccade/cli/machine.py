"""What the commands do with a machine that learnt an algorithm: `saccade evaluate`, and `saccade look`."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from saccade.cli.parser import count
from saccade.data import AlgorithmSettings, Episodes, make_episodes
from saccade.errors import InputError
from saccade.files import write_file
from saccade.look import drawable, save_machine, steps_of
from saccade.metrics import score_bits
from saccade.models import MemoryMachine, Trace

_SEQUENCES = 100  # to evaluate on, of each length
_LONGEST = 10_000
_AT_ONCE = 20  # sequences
OF_MACHINES = ("length", "repeats", "seed", "swap")  # of `saccade look`


def add_length_arguments(parser: argparse.ArgumentParser) -> None:
    """Of `saccade evaluate`."""
    parser.add_argument(
        "--lengths",
        type=_lengths,
        metavar="N,N",
        help="of machines: the lengths to try, such as 10,20,120 (the longest of training, and up to six times that)",
    )
    parser.add_argument("--sequences", type=count, metavar="N", help=f"of machines: of each length ({_SEQUENCES})")


def _lengths(text: str) -> list[int]:
    try:
        lengths = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted lengths such as 10,20,120") from None
    wrong = [length for length in lengths if not 1 <= length <= _LONGEST]
    if wrong:
        raise argparse.ArgumentTypeError(f"found {wrong[0]}, wanted 1 to {_LONGEST}")
    return lengths


def evaluate_machine(chosen: argparse.Namespace, machine: MemoryMachine) -> None:
    """Bits per sequence and wrong bits, length by length."""
    most = machine.settings.data.most
    lengths = chosen.lengths or [most * times for times in (1, 2, 4, 6)]
    sequences = chosen.sequences or _SEQUENCES
    rows: list[dict[str, Any]] = []
    for length in lengths:
        logits, targets = zip(
            *(
                machine.answers(_made(machine.settings.data, min(_AT_ONCE, sequences - done), f"{done}", length))
                for done in range(0, sequences, _AT_ONCE)
            ),
            strict=True,
        )
        score = score_bits(np.concatenate(logits), np.concatenate(targets))
        rows.append({"length": length, "bits": score.bits, "wrong": score.wrong})
    if chosen.json:
        print(json.dumps({"problem": machine.settings.data.make, "sequences": sequences, "by_length": rows}))
        return
    print(f"{machine.settings.data.make}, {sequences} sequences of each length; trained to length {most}")
    print(f"{'length':>6}  {'bits a sequence':>15}  {'wrong bits':>10}")
    for row in rows:
        print(f"{row['length']:>6}  {row['bits']:>15.4f}  {row['wrong']:>8.2f} %")


def _made(settings: AlgorithmSettings, sequences: int, seed: str, length: int, repeats: int | None = None) -> Episodes:
    """Problems that no training saw; a length that the problem does not have is refused."""
    least = settings.fewest_possible()
    if length < least:
        raise InputError(f"length: found {length}, wanted at least {least} for {settings.make}")
    # as many repeats as in training, at most: all sequences of a length are to be equally hard
    return make_episodes(settings, sequences, seed=f"test {seed}", length=length, repeats=repeats or settings.repeats)


def add_machine_arguments(parser: argparse.ArgumentParser) -> None:
    """Of `saccade look`."""
    parser.add_argument("--length", type=count, metavar="N", help="of machines: of the sequence (the longest learnt)")
    parser.add_argument("--repeats", type=count, metavar="N", help="of repeat-copy: how often (3)")
    parser.add_argument("--seed", type=int, metavar="N", help="of machines: another sequence (0)")
    parser.add_argument(
        "--swap",
        type=count,
        nargs=2,
        metavar="N",
        help="of machines that copy: swap what was stored of these two vectors, before the output, and see it follow",
    )


def look_at_machine(chosen: argparse.Namespace, machine: MemoryMachine) -> None:
    """Run one sequence, and show each step: to the files that were named, or to the terminal."""
    settings = machine.settings.data
    if chosen.repeats is not None and settings.make != "repeat-copy":
        raise InputError(f"--repeats: this machine learnt {settings.make}; it is for repeat-copy")
    for name in ("length", "repeats"):
        if (getattr(chosen, name) or 1) > _LONGEST:
            raise InputError(f"--{name}: found {getattr(chosen, name)}, wanted 1 to {_LONGEST}")
    length = settings.most if chosen.length is None else chosen.length
    episodes = _made(settings, 1, str(chosen.seed or 0), length, chosen.repeats or min(3, settings.repeats))
    trace = machine.trace(episodes.inputs[0])
    wrong = _wrong(trace, episodes)
    bits = int(episodes.scored.sum()) * episodes.targets.shape[2]
    title = f"{settings.make}, length {length}: {wrong} of {bits} bits wrong"
    if chosen.swap is not None:
        trace, moved = _swapped(machine, trace, episodes, chosen.swap)
        title += f"; after swapping {chosen.swap[0]} and {chosen.swap[1]} in the memory: {moved}"
    files = [path for path in (chosen.png, chosen.svg, chosen.pdf) if path is not None]
    for path in files:
        save_machine(path, trace, episodes.phases, title=title)
        say_written(path)
    if chosen.json is not None:
        record = {name: array.tolist() for name, array in vars(trace).items()}
        phases = [{"name": name, "step": step} for name, step in episodes.phases]
        write_file(chosen.json, json.dumps({"problem": settings.make, "phases": phases, **record}).encode())
        say_written(chosen.json)
    if not files and chosen.json is None:
        print("\n".join(steps_of(trace, episodes.phases)))
    print(title)


def say_written(path: Path) -> None:
    """Of `saccade look`, a line for each file; a name that is no UTF-8 is shown as well as it can be."""
    print(f"written: {drawable(str(path))}")


def _wrong(trace: Trace, episodes: Episodes) -> int:
    return int(((trace.outputs > 0.5) != (episodes.targets[0] > 0.5))[episodes.scored].sum())


def _swapped(machine: MemoryMachine, trace: Trace, episodes: Episodes, items: list[int]) -> tuple[Trace, str]:
    """The same sequence with two places of the memory swapped before the output, and what came of it."""
    if machine.settings.data.make not in ("copy", "repeat-copy"):
        raise InputError(f"--swap: this machine learnt {machine.settings.data.make}; it is for those that copy")
    if max(items) > episodes.length:
        raise InputError(f"--swap: found {max(items)}, wanted 1 to {episodes.length}, the length of the sequence")
    one, other = (int(trace.write_weights[:, item - 1].sum(0).argmax()) for item in items)
    if one == other:
        raise InputError(f"--swap: this machine wrote {items[0]} and {items[1]} to one place, {one}; nothing to swap")

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
    return after, f"places {one} and {other}, {off} of {wanted.size} bits are not where they went"
