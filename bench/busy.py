"""What is left of saccade's speed while other programs use all cores: `python -m bench.busy [CASE ...]`.

In each turn a case runs for some seconds on an idle machine, then as long beside one endless loop a core, in the same
process, with default settings. It needs no data: sentences are made. One JSON line a case:

    case, unit     what was done, and what is counted
    idle, busy     units a second: the median of the turns
    kept           busy / idle: the median of the turns, and their range

The machine has to be idle otherwise, or the first figure is wrong.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.race import ROOT, Runner, Side, environment_of


class Case(NamedTuple):
    """A recipe, and whether it is trained, or translates when it has been trained a little."""

    task: str
    recipe: str
    settings: tuple[str, ...] = ()


_MULTI30K = tuple(f"data.{split}.{side}={side}" for split in ("train", "valid") for side in ("source", "target"))
CASES = {
    "train-dates": Case("train", "dates"),  # an RNN of 280,000 parameters
    "train-numbers": Case("train", "numbers"),  # a Transformer of 680,000
    "train-multi30k": Case("train", "multi30k-transformer", _MULTI30K),  # one of 2.6 million, on random words
    "translate-dates": Case("translate", "dates"),  # 64 sentences, a beam of 5
    "translate-numbers": Case("translate", "numbers"),
}
_STEPS = 200  # of training before anything is translated, so that most sentences end


def measure(case: Case, folder: Path, *, turns: int, seconds: float) -> dict[str, Any]:
    """Turns of a case, idle and busy by turns."""
    job = {"task": case.task, "recipe": case.recipe, "settings": case.settings, "seconds": seconds}
    job |= {"run": str(folder / f"{case.task}-{case.recipe}"), "sentences": str(folder / f"{case.recipe}.txt")}
    if case.task == "translate":
        _prepare_translating(case, folder)
    command = [sys.executable, "-m", "bench.sides.user", json.dumps(job)]
    environment = environment_of(Side("user"))
    pipe = subprocess.PIPE
    idle: list[float] = []
    busy: list[float] = []
    with subprocess.Popen(  # noqa: S603
        command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, encoding="utf-8"
    ) as process:
        try:
            runner = Runner(process)
            runner.turn()  # to warm up
            for _ in range(turns):
                idle.append(_rate(runner))
                with all_cores_busy():
                    busy.append(_rate(runner))
        finally:
            process.kill()
    kept = [one / other for one, other in zip(busy, idle, strict=True)]
    return {
        "unit": "steps/s" if case.task == "train" else "sentences/s",
        "idle": round(statistics.median(idle), 2),
        "busy": round(statistics.median(busy), 2),
        "kept": round(statistics.median(kept), 2),
        "kept_range": [round(min(kept), 2), round(max(kept), 2)],
    }


def _rate(runner: Runner) -> float:
    done = runner.turn()
    return done["units"] / done["seconds"]


@contextmanager
def all_cores_busy() -> Iterator[None]:
    """An endless loop for each core, until it is left."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def _prepare_translating(case: Case, folder: Path) -> None:
    """A model that has learnt for a little while, and what it is to translate."""
    saccade = [sys.executable, "-m", "saccade.cli.main"]
    made = folder / f"{case.recipe}-corpus"
    short = [
        f"train.steps={_STEPS}",
        f"train.validate_every={_STEPS}",
        "train.warmup_steps=20",
        "validation.sentences=10",
    ]
    for command in (
        ["data", "make", case.recipe, "--pairs", "64", "--valid", "1", "--test", "1", "--out", str(made)],
        ["train", case.recipe, *short, "--run", str(folder / f"translate-{case.recipe}")],
    ):
        subprocess.run([*saccade, *command], cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    sources = [line.split("\t")[0] for line in (made / "train.tsv").read_text().splitlines()]
    (folder / f"{case.recipe}.txt").write_text("\n".join(sources))


def write_random_pairs(folder: Path) -> None:
    """As many words, and of such lengths, as in Multi30k, but without a meaning."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(8000)]
    for side in ("source", "target"):
        lines = (" ".join(rng.choices(words, k=rng.randint(8, 18))) for _ in range(6000))
        (folder / side).write_text("".join(f"{line}\n" for line in lines))


def main() -> None:
    parser = argparse.ArgumentParser(description="What is left of the speed while other programs use all cores.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"all, or some of: {', '.join(CASES)}")
    parser.add_argument("--turns", type=int, default=5, help="idle and busy, after one to warm up (5)")
    parser.add_argument("--seconds", type=float, default=3.0, help="that a turn lasts (3)")
    chosen = parser.parse_args()
    unknown = set(chosen.cases) - CASES.keys()
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        write_random_pairs(Path(folder))
        for name, case in CASES.items():
            if not chosen.cases or name in chosen.cases:
                line = measure(case, Path(folder), turns=chosen.turns, seconds=chosen.seconds)
                print(json.dumps({"case": name, **line}), flush=True)


if __name__ == "__main__":
    main()
