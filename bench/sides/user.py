"""saccade as a user has it, with default settings: a training by its recipe, or sentences through a finished model.

It takes turns as every side does (see `turns`), but each lasts as many seconds as its job says. torch is loaded by
saccade and by nobody before it: what is set up until then is part of what is measured.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import saccade
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.run import start_training
from saccade.training import Reporter


class Turns:
    """Waits for a line, then counts units until the time is up, and says how many there were."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began: float | None = None
        self._units = 0

    def done(self, units: int) -> None:
        """So much was done. Ends the process when there are no more turns to take."""
        now = time.perf_counter()
        self._units += units
        if self._began is not None and now < self._began + self._seconds:
            return
        said = "ready" if self._began is None else json.dumps({"units": self._units, "seconds": now - self._began})
        print(said, flush=True)
        if not sys.stdin.readline():
            print("{}", flush=True)
            sys.exit()
        self._began, self._units = time.perf_counter(), 0


class Counting(Reporter):
    """Takes turns at training: a unit is a step."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    def say(self, text: str) -> None:
        return

    def step(self, step: int, steps: int, metrics: dict[str, float], *, unit: str) -> None:
        self._turns.done(1)

    def count(self, done: int, total: int, what: str) -> None:
        return


def train(turns: Turns, recipe: str, settings: Sequence[str], run: Path) -> None:
    """Train as `saccade train` does it, but for ever, and without validation."""
    forever = [
        "train.steps=1000000",
        "train.validate_every=1000000",
        "train.warmup_steps=1000",
        "train.tensorboard=false",
    ]
    start_training(load_recipe(recipe, [*forever, *settings]), run, Counting(turns))


def translate(turns: Turns, model: Path, sentences: list[str]) -> None:
    """Translate the same sentences over and over, with a beam of 5 as `saccade translate` does it."""
    translator = saccade.load(model, saccade.Translator)
    while True:
        translator.translate(sentences, beam=5)
        turns.done(len(sentences))


def main() -> None:
    job = json.loads(sys.argv[1])
    turns, run = Turns(job["seconds"]), Path(job["run"])
    if job["task"] == "train":
        train(turns, job["recipe"], job["settings"], run)
    else:
        translate(turns, run / "model", Path(job["sentences"]).read_text().splitlines()[:64])


if __name__ == "__main__":
    main()
