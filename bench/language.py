"""Training language models beside a plain loop of torch: `python -m bench.language --text FILE`.

Both at the setting that nanoGPT's description gives for a CPU: 4 layers of 128 units and 4 heads, 64 characters of
context, 12 rows a batch, no dropout, AdamW. saccade runs `saccade train gpt` as a user has it, journal and checkpoints
included; the other side is `bench/sides/gpt.py`. The sides take turns. One JSON line:

    rate            characters a second of each side, the median of the turns
    range           the slowest and the fastest turn
    times_as_fast   how many times the plain loop's rate a side has: the median of the turns
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.race import HEAP_KEPT, Runner, Side, environment_of

TOKENS_A_STEP = 12 * 64
PEER = "plain"


class Started(NamedTuple):
    """A side: what runs it, and what a unit of its work counts in characters."""

    module: str
    job: dict[str, Any]
    unit: int
    heap_kept: bool = False


def sides(text: Path, folder: Path, *, threads: int, seconds: float) -> dict[str, Started]:
    """Who takes part, by name."""
    tokens, vocabulary = write_tokens(text, folder / "tokens")
    theirs = {"tokens": str(tokens), "vocabulary": vocabulary, "seconds": seconds, "threads": threads}

    def ours(precision: str) -> Started:
        settings = [f"data.text={text.resolve()}", f"train.threads={threads}", f"train.precision={precision}"]
        job = {"task": "train", "recipe": "gpt", "settings": settings, "seconds": seconds}
        return Started("user", {**job, "run": str(folder / precision)}, TOKENS_A_STEP)

    return {
        "saccade": ours("float32"),
        "saccade, bfloat16": ours("bfloat16"),
        PEER: Started("gpt", theirs, 1),
        "plain, heap kept": Started("gpt", theirs, 1, heap_kept=True),
        "plain, compiled": Started("gpt", {**theirs, "compiled": True}, 1),
    }


def write_tokens(text: Path, path: Path) -> tuple[Path, int]:
    """The first nine tenths of a text as 16-bit numbers, one a character; and how many different ones there are."""
    written = text.read_text(encoding="utf-8")
    number = {character: index for index, character in enumerate(sorted(set(written)))}
    np.array([number[one] for one in written[: len(written) * 9 // 10]], dtype=np.uint16).tofile(path)
    return path, len(number)


def start(side: Started, folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", f"bench.sides.{side.module}", json.dumps(side.job)],
        cwd=folder,
        env=environment_of(Side(side.module)) | (HEAP_KEPT if side.heap_kept else {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def race(started: dict[str, Started], folder: Path, *, turns: int) -> dict[str, Any]:
    """All sides, turn by turn, after one to warm up."""
    with ExitStack() as stack:
        runners: dict[str, Runner] = {}
        for name, side in started.items():
            process = stack.enter_context(start(side, folder))
            stack.callback(process.kill)
            runners[name] = Runner(process)
        rates: dict[str, list[float]] = {name: [] for name in runners}
        for number in range(turns + 1):
            for name, runner in runners.items():
                done = runner.turn()
                if number:
                    rates[name].append(started[name].unit * done["units"] / done["seconds"])
    beside = {
        name: round(statistics.median(one / other for one, other in zip(found, rates[PEER], strict=True)), 2)
        for name, found in rates.items()
    }
    return {
        "case": "gpt",
        "unit": "characters/s",
        "rate": {name: round(statistics.median(found)) for name, found in rates.items()},
        "range": {name: [round(min(found)), round(max(found))] for name, found in rates.items()},
        "times_as_fast": beside,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Training language models beside a plain loop of torch.")
    names = ("saccade", "saccade, bfloat16", PEER, "plain, heap kept", "plain, compiled")
    parser.add_argument("--text", type=Path, required=True, metavar="FILE", help="what is learnt from")
    parser.add_argument("--turns", type=int, default=5, help="of each side, after one to warm up (5)")
    parser.add_argument("--seconds", type=float, default=5.0, help="that a turn lasts (5)")
    parser.add_argument("--threads", type=int, default=1, help="of each side (1)")
    parser.add_argument(
        "--without", action="append", default=[], choices=names[:2] + names[3:], help="leave a side out"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = sides(chosen.text, Path(folder), threads=chosen.threads, seconds=chosen.seconds)
        taking_part = {name: side for name, side in found.items() if name not in chosen.without}
        print(json.dumps(race(taking_part, Path(folder), turns=chosen.turns)), flush=True)


if __name__ == "__main__":
    main()
