"""Damaged models' folders: each is refused in one line that names the file, or answers as if nothing had been."""

import json
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import saccade
from saccade.base.errors import InputError
from soak.damage import Damage, damage, files_of
from soak.nursery import Outcome, forked
from soak.report import Check, Clock, Options
from soak.tiny import COPYING, RECIPES, SUBWORDS, answers, train_model

_MEMORY = 1 << 30  # bytes that a folder may cost to look at, and its model to answer

Load = Callable[[Path], Any]


def run(options: Options, scratch: Path, *, load: Load = saccade.load) -> list[Check]:
    """So many damaged folders of the model of each task."""
    count, clock = options.cases(full=2000, quick=60), Clock(options.minutes)
    recipes = options.wanted({**RECIPES, "subwords": SUBWORDS, "copying": COPYING})
    models = {name: train_model(recipe, scratch / name) for name, recipe in recipes.items()}
    checks: list[Check] = []
    for name, model in models.items():
        check = Check(f"damaged folders: {name}")
        others = [other for other in models.values() if other != model] or [model]
        expected = forked(lambda model=model: _tell(model, load)).out
        for number in range(options.first, options.first + count):
            if clock.is_up():
                check.cut_short = True
                break
            _try(check, model, others, expected, f"{options.seed} {name} {number}", scratch / "damaged", load)
        checks.append(check)
        print(f"{check.name}: {check.cases} cases, {check.verdict}", file=sys.stderr, flush=True)
    return checks


def _try(check: Check, model: Path, others: list[Path], expected: bytes, seed: str, scratch: Path, load: Load) -> None:
    """One case."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    folder = scratch / "model"
    shutil.copytree(model, folder)
    names = files_of(folder)
    done = damage(folder, random.Random(seed), others)
    outcome = forked(lambda: _tell(folder, load), memory=_MEMORY)
    check.cases += 1
    check.count(outcome)
    why = broken(done, outcome, folder, names, expected)
    if why:
        check.breaks(f"case {seed!r}: {done.what}", why, outcome)


def _tell(folder: Path, load: Load) -> None:
    """What comes of loading and asking the model, on standard output."""
    try:
        model = load(folder)
    except InputError as error:
        print(json.dumps({"refused": str(error)}))
        return
    try:
        print(json.dumps({"answers": answers(model)}))
    except InputError as error:
        print(json.dumps({"refused to answer": str(error)}))


def broken(done: Damage, outcome: Outcome, folder: Path, names: list[str], expected: bytes) -> list[str]:
    """The promises that were broken."""
    if outcome.hung:
        return ["it hung"]
    if outcome.code:
        return [f"it ended with {outcome.code}, wanted a sentence or an answer"]
    said = json.loads(outcome.out)
    message = said.get("refused", said.get("refused to answer"))
    if message is None:
        if done.expected in ("named", "refused"):
            return ["it was loaded, wanted a refusal"]
        return [] if done.expected == "either" or outcome.out == expected else ["it answers otherwise than before"]
    if done.expected == "same":
        return [f"it was refused, and nothing was wrong with it: {message}"]
    why = [f"more than a line: {message!r}"] if "\n" in message or "\r" in message else []
    if done.expected == "named" and first_named(message, folder, names) != done.file:
        why.append(f"wanted {done.file} to be named: {message}")
    return why


def first_named(message: str, folder: Path, names: list[str]) -> str | None:
    """The file of the model that a message names first."""
    rest = message.replace(str(folder), "")
    found = {rest.index(name): name for name in names if name in rest}
    return found[min(found)] if found else None
