"""Before against after, two checkouts in one run, taking turns: `python -m bench.before --before DIR [CASE ...]`.

Each side runs what its own checkout has, its package and its `bench.sides.saccade`; "after" is where this file is. It
needs no data: pairs are of random tokens, and the command line translates numbers in words with a model that each side
has trained for 400 steps. One JSON line a case:

    case, unit       what was done, and what is counted: target tokens or sentences a second
    after, before    the rate of each side: the median of the turns
    ratio            after / before: the median of the turns

The case `command-line` is `saccade translate` of a file, from the start of its process to its end; `without_start` is
the same less what a file of one line takes, which is the time to load torch and the model. `train-captions` is
`saccade train shapes`, by the rate that its journal has, and `caption` is `saccade caption` of made scenes. The cases
`attend-...` are passes forward and backward of `bench.attention`.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.race import ROOT, VOCABULARY, Case, Side, environment_of, job, race
from bench.sides.turns import END, Pair

LENGTH, LINES, SCENES = 16, 2000, 400
COMMAND_LINE, CAPTIONS, ATTENTION = "command-line", "captions", "attention"
ATTENTION_CASES = ("additive-long", "scaled-dot", "general", "cosine", "multi-head")


def decoding(**changes: Any) -> dict[str, Any]:
    return job(task="decode", beam=5, length=LENGTH, **changes)


JOBS = {
    "train-transformer": job(task="train"),
    "train-rnn": job(task="train", model="rnn-bahdanau", batch_tokens=1280, turn_tokens=8000),
    "decode-transformer": decoding(batch=64, sentences=256),
    "decode-rnn": decoding(model="rnn-fed", batch=64, sentences=256),
    "decode-transformer-1": decoding(batch=1, sentences=30),
    "decode-rnn-1": decoding(model="rnn-fed", batch=1, sentences=30),
    "train-ntm": job(task="train", model="ntm", sentences=40),
}


def random_pairs(count: int = 20_000) -> list[Pair]:
    """Pairs without a meaning, of 8 to 24 tokens; enough of them have as many as decoding wants."""
    rng = random.Random(0)

    def side() -> list[int]:
        return [*rng.choices(range(END + 1, VOCABULARY), k=rng.randint(7, 23)), END]

    return [(side(), side()) for _ in range(count)]


def compare(name: str, sides: Sequence[Side], *, pairs: Path, turns: int, threads: int) -> dict[str, Any]:
    """A race of two."""
    case = Case(name, {**JOBS[name], "pairs": str(pairs), "threads": threads}, tuple(sides))
    line = race(case, turns=turns)
    after, before = (side.name for side in sides)
    rates = {"after": line["rate"][after], "before": line["rate"][before]}
    return {"case": name, "unit": line["unit"], **rates, "ratio": line["times_as_fast"][before]}


def translate_files(sides: Sequence[Side], folder: Path, *, turns: int) -> dict[str, Any]:
    """The command line, with and without the time that it takes to start."""
    models = [_trained(side, folder / str(number)) for number, side in enumerate(sides)]
    made = folder / "numbers"
    _run(sides[0], "data", "make", "numbers", "--pairs", str(LINES), "--valid", "1", "--test", "1", "--out", str(made))
    lines = [line.split("\t")[0] for line in (made / "train.tsv").read_text().splitlines()]
    whole, single = folder / "whole.txt", folder / "single.txt"
    whole.write_text("".join(f"{line}\n" for line in lines))
    single.write_text(f"{lines[0]}\n")
    words = [[["translate", str(model), str(path)] for path in (whole, single)] for model in models]
    return {"case": COMMAND_LINE, "unit": "sentences/s"} | _commands(sides, words, count=LINES, turns=turns)


def caption_images(sides: Sequence[Side], folder: Path, *, turns: int) -> list[dict[str, Any]]:
    """Captioning: its training, and the command line with and without the time that it takes to start."""
    rates: list[list[float]] = [[], []]
    models: list[Path] = []
    for number in range(turns + 1):
        for place, side in enumerate(sides):
            run = folder / f"scenes {place} {number}"
            steps = ["train.steps=40", "train.log_every=20", "train.validate_every=40", "data.scenes=600"]
            _run(side, "train", "shapes", *steps, "--run", str(run))
            lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
            last = [line for line in lines if "rate" in line][-1]
            if number:
                rates[place].append(last["rate"])
            else:
                models.append(run / "model")
    after, before = rates
    ratio = statistics.median(ours / theirs for ours, theirs in zip(after, before, strict=True))
    trained = {"after": round(statistics.median(after), 1), "before": round(statistics.median(before), 1)}
    scenes = folder / "scenes"
    _run(sides[0], "data", "make", "shapes", "--scenes", str(SCENES), "--out", str(scenes))
    images = scenes / "images"
    words = [[["caption", str(model), str(path)] for path in (images, min(images.iterdir()))] for model in models]
    return [
        {"case": "train-captions", "unit": "words/s", **trained, "ratio": round(ratio, 2)},
        {"case": "caption", "unit": "images/s"} | _commands(sides, words, count=SCENES, turns=turns),
    ]


def attend(sides: Sequence[Side], *, turns: int) -> list[dict[str, Any]]:
    """Attention by itself, forward and backward."""
    rates: dict[str, list[list[float]]] = {name: [[], []] for name in ATTENTION_CASES}
    for number in range(turns + 1):
        for place, side in enumerate(sides):
            command = [sys.executable, "-m", "bench.attention", *ATTENTION_CASES, "--turns", "3"]
            found = subprocess.run(  # noqa: S603
                command,
                cwd=side.checkout,
                env=environment_of(side),
                check=True,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
            for line in map(json.loads, found.stdout.splitlines()):
                if number:  # the first turn warms up
                    rates[line["case"]][place].append(1 / line["seconds"])
    return [
        {
            "case": f"attend-{name}",
            "unit": "passes/s",
            "after": round(statistics.median(after), 2),
            "before": round(statistics.median(before), 2),
            "ratio": round(statistics.median(ours / theirs for ours, theirs in zip(after, before, strict=True)), 2),
        }
        for name, (after, before) in rates.items()
    ]


def _commands(
    sides: Sequence[Side], words: Sequence[Sequence[Sequence[str]]], *, count: int, turns: int
) -> dict[str, float]:
    """The rates of two commands of each side: one with `count` inputs, and one with a single input."""
    seconds: list[list[tuple[float, float]]] = [[], []]
    for number in range(turns + 1):
        for times, side, (many, one) in zip(seconds, sides, words, strict=True):
            took = _run(side, *many), _run(side, *one)
            if number:  # the first turn warms up
                times.append((took[0], took[0] - took[1]))
    after, before = seconds
    with_start = [theirs[0] / ours[0] for ours, theirs in zip(after, before, strict=True)]
    without_start = [theirs[1] / ours[1] for ours, theirs in zip(after, before, strict=True)]
    return {
        "after": round(count / statistics.median(whole for whole, _ in after), 1),
        "before": round(count / statistics.median(whole for whole, _ in before), 1),
        "ratio": round(statistics.median(with_start), 2),
        "without_start": round(statistics.median(without_start), 2),
    }


def _trained(side: Side, run: Path) -> Path:
    """A model of the side's own: the formats of two checkouts may differ. All settings are as old as the recipe."""
    short = ["train.steps=400", "train.validate_every=400", "validation.sentences=10"]
    _run(side, "train", "numbers", *short, "--run", str(run))
    return run / "model"


def _run(side: Side, *words: str) -> float:
    """The seconds that a command of the side's saccade takes."""
    command = [sys.executable, "-m", "saccade.cli.main", *words]
    began = time.perf_counter()
    subprocess.run(command, cwd=side.checkout, env=environment_of(side), check=True, capture_output=True)  # noqa: S603
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description="This checkout against another one, in one run.")
    names = [*JOBS, COMMAND_LINE, CAPTIONS, ATTENTION]
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"all, or some of: {', '.join(names)}")
    parser.add_argument("--before", type=Path, required=True, metavar="DIR", help="another checkout of saccade")
    parser.add_argument("--turns", type=int, default=5, help="of each side, after one to warm up (5)")
    parser.add_argument("--threads", type=int, default=2, help="of each side, but for the command line (2)")
    chosen = parser.parse_args()
    unknown = set(chosen.cases) - set(names)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    other = chosen.before.resolve()
    if not (other / "saccade" / "__init__.py").is_file() or other == ROOT:
        parser.error(
            f"--before {chosen.before}: not another checkout of saccade; make one with: git worktree add DIR HEAD"
        )
    sides = (Side("saccade"), Side("saccade", checkout=other))
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.json"
        pairs.write_text(json.dumps(random_pairs()))
        for name in names:
            if chosen.cases and name not in chosen.cases:
                continue
            if name == COMMAND_LINE:
                lines = [translate_files(sides, Path(folder), turns=chosen.turns)]
            elif name == CAPTIONS:
                lines = caption_images(sides, Path(folder), turns=chosen.turns)
            elif name == ATTENTION:
                lines = attend(sides, turns=chosen.turns)
            else:
                lines = [compare(name, sides, pairs=pairs, turns=chosen.turns, threads=chosen.threads)]
            for line in lines:
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
