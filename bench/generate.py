"""How long one waits for a language model's text: `python -m bench.generate --model DIR`.

Each turn is a process of its own, `saccade generate DIR PROMPT --stream`, as a user starts it. One JSON line, medians
of the turns: `first`, the seconds from the start of the process to the first character behind the prompt, with all that
is imported and loaded; `rate`, the characters a second from then to the last one; and how many there were. Past the
context the window slides, which is part of the rate. A model may end its text by itself, so each turn goes by another
seed, and texts of less than half of what was asked for are left out and counted. The first turn, for which files may
have to come from the disk, does not count.
"""

import argparse
import codecs
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import saccade


class Turn(NamedTuple):
    """What one process did."""

    first: float  # seconds
    rate: float  # characters a second
    characters: int


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds to the first character of a text, and characters a second.")
    parser.add_argument("--model", type=Path, required=True, help="a language model's folder")
    parser.add_argument("--prompt", default="The ", help="what the text begins with ('The ')")
    parser.add_argument("--tokens", type=int, default=2000, metavar="N", help="how many are asked for (2000)")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="of torch (2)")
    parser.add_argument("--turns", type=int, default=5, help="after one to warm up (5)")
    parser.add_argument("others", nargs="*", metavar="OPTION", help="of saccade generate, behind --: -- --top-k 10")
    chosen = parser.parse_args()
    print(json.dumps(measure(chosen)), flush=True)


def measure(chosen: argparse.Namespace) -> dict[str, object]:
    """The medians of the turns."""
    turns = [write(chosen, seed) for seed in range(chosen.turns + 1)][1:]
    long = [turn for turn in turns if 2 * turn.characters >= chosen.tokens]
    if not long:
        raise SystemExit("all texts ended early; ask for fewer --tokens")
    medians = {name: statistics.median(getattr(turn, name) for turn in long) for name in Turn._fields}
    context = saccade.load(chosen.model, saccade.LanguageModel).context
    return {
        "model": str(chosen.model),
        "first": round(medians["first"], 2),
        "rate": round(medians["rate"]),
        "slowest": [round(max(turn.first for turn in long), 2), round(min(turn.rate for turn in long))],
        "characters": medians["characters"],
        "context": context,
        "threads": chosen.threads,
        "turns": len(long),
        "left_out": len(turns) - len(long),
    }


def write(chosen: argparse.Namespace, seed: int) -> Turn:
    """One text, in a process of its own."""
    options = ["--tokens", str(chosen.tokens), "--seed", str(seed), "--stream", *chosen.others]
    command = [sys.executable, "-m", "saccade", "generate", str(chosen.model), chosen.prompt, *options]
    environment = os.environ | {"OMP_NUM_THREADS": str(chosen.threads)}
    before, first, at_first, count = len(chosen.prompt), 0.0, 0, 0
    decoder = codecs.getincrementaldecoder("utf-8")()
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:  # noqa: S603
        assert process.stdout is not None
        while data := os.read(process.stdout.fileno(), 1 << 16):
            count += len(decoder.decode(data))
            if not first and count > before:
                first, at_first = time.perf_counter() - began, count - before
        seconds = time.perf_counter() - began - first
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: ended with code {process.returncode}")
    written = count - before - 1  # the last newline is not the model's
    return Turn(first, (written - at_first) / seconds if first else 0.0, written)


if __name__ == "__main__":
    main()
