"""What each C kernel gains in whole trainings and searches: `python -m bench.kernels [KERNEL ...]`.

Both sides are saccade, one of them without the kernel, which is then torch's own operations; they take turns. It needs
no data: pairs are of random tokens. One JSON line a kernel and a case:

    kernel, case, unit    what was left out, what was done, and what is counted; `train-char-rnn` is `saccade train` of
                          a recurrent net that looks back over 256 characters by additive attention
    with, without         the rate of each side: the median of the turns
    gain                  with / without: the median of the turns

A kernel that gains less than 1.15 times in every whole run is not worth its C.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.before import JOBS, random_pairs
from bench.race import Case, Side, environment_of, race

CHAR_RNN = "train-char-rnn"

# What each kernel takes part in.
CASES: dict[str, tuple[str, ...]] = {
    "additive": ("train-rnn", CHAR_RNN, "decode-rnn", "decode-rnn-1"),
    "best": ("decode-transformer", "decode-rnn", "decode-transformer-1", "decode-rnn-1"),
    "dropout": ("train-transformer", "train-rnn"),
    "quantized": ("decode-transformer-int8", "decode-rnn-int8"),
    "shortlist": ("decode-transformer", "decode-rnn"),
    "transformer_step": ("decode-transformer", "decode-transformer-1"),
    "turing_step": ("train-ntm",),
}


def race_char_rnn(sides: Sequence[Side], folder: Path, *, turns: int, threads: int) -> dict[str, Any]:
    """A race of trainings, by the rate that their journals have."""
    steps = ["train.steps=20", "train.log_every=10", "train.validate_every=20", f"train.threads={threads}"]
    net = ["model.score=additive", "model.layers=1", "model.max_length=256", "train.batch_size=16"]
    rates: dict[str, list[float]] = {side.name: [] for side in sides}
    for number in range(turns + 1):
        for side in sides:
            run = folder / f"{side.name} {number}"
            command = [sys.executable, "-m", "saccade", "train", "char-rnn", *net, *steps, "--run", str(run)]
            subprocess.run(command, env=environment_of(side), check=True, capture_output=True)  # noqa: S603
            lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
            if number:  # the first turn warms up
                rates[side.name].append([line["rate"] for line in lines if "rate" in line][-1])
    ours, others = rates.values()
    gain = statistics.median(one / other for one, other in zip(ours, others, strict=True))
    medians = {name: round(statistics.median(values), 1) for name, values in rates.items()}
    return {"unit": "tokens/s", "rate": medians, "times_as_fast": {sides[1].name: round(gain, 2)}}


def main() -> None:
    parser = argparse.ArgumentParser(description="Whole runs with and without each C kernel.")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=f"all, or some of: {', '.join(CASES)}")
    parser.add_argument("--turns", type=int, default=5, help="of each side, after one to warm up (5)")
    parser.add_argument("--threads", type=int, default=2, help="of each side (2)")
    chosen = parser.parse_args()
    unknown = set(chosen.kernels) - CASES.keys()
    if unknown:
        parser.error(f"no such kernel: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.json"
        pairs.write_text(json.dumps(random_pairs()))
        for kernel, cases in CASES.items():
            if chosen.kernels and kernel not in chosen.kernels:
                continue
            for name in cases:
                precision = "int8" if name.endswith("-int8") else "float32"
                sides = (Side("saccade", precision=precision), Side("saccade", precision=precision, without=kernel))
                if name == CHAR_RNN:
                    line = race_char_rnn(sides, Path(folder), turns=chosen.turns, threads=chosen.threads)
                else:
                    job = {**JOBS[name.removesuffix("-int8")], "pairs": str(pairs), "threads": chosen.threads}
                    line = race(Case(name, job, sides), turns=chosen.turns)
                ours, others = line["rate"].values()
                gain = line["times_as_fast"][sides[1].name]
                record = {"kernel": kernel, "case": name, "unit": line["unit"]}
                print(json.dumps({**record, "with": ours, "without": others, "gain": gain}), flush=True)


if __name__ == "__main__":
    main()
