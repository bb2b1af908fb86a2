"""From a recipe and a folder to a finished model, going on where a training was broken off."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from saccade.errors import InputError
from saccade.files import read_file, write_file
from saccade.settings import differences, write_yaml
from saccade.tasks.common import VOCABULARY
from saccade.tasks.kinds import Recipe, load_data
from saccade.tasks.recipes import load_recipe
from saccade.train import CHECKPOINT, MODEL, Reporter, describe, train
from saccade.train.lock import locked

RECIPE, ORIGIN = "recipe.yaml", "origin.json"
# With other data, another vocabulary or another net, the checkpoint would be of no use.
_FIXED = ("task", "data.", "vocabulary.", "eye.", "model.")


class Origin(NamedTuple):
    """What a training depends on besides its recipe, if it is to go on bit for bit."""

    data: str  # a fingerprint of what is learnt from
    threads: int
    torch: str


def start_training(recipe: Recipe, run: Path, reporter: Reporter) -> dict[str, float]:
    """Train as the recipe says, in the folder `run`. If a training was broken off there, it goes on."""
    if recipe.train.threads is not None:
        torch.set_num_threads(recipe.train.threads)
    data = load_data(recipe)  # first: of a recipe whose data is not there, no folder should remain
    with locked(run):
        resuming = (run / CHECKPOINT).exists()
        if resuming:
            _compare_recipes(recipe, run, reporter)
        else:
            shutil.rmtree(run / VOCABULARY, ignore_errors=True)  # of an attempt that did not get far
        origin = Origin(data.fingerprint, torch.get_num_threads(), torch.__version__)
        if resuming:
            _compare_origins(origin, run, reporter)
        write_file(run / ORIGIN, json.dumps(origin._asdict()).encode())
        write_file(run / RECIPE, write_yaml(recipe).encode())
        with reporter:
            figures = train(data.task(run, reporter), recipe.train, run, reporter)
            reporter.say(f"{run / MODEL}: {describe(figures)}")
    return figures


def recipe_of_run(run: Path, assignments: Sequence[str] = ()) -> Recipe:
    """The recipe that a training was begun with, with each `key=value` of `assignments` put in."""
    path = run / RECIPE
    if not path.is_file():
        raise InputError(f"{run}: no training was begun there; name a recipe, such as: saccade train dates --run {run}")
    return load_recipe(str(path), assignments)


def _compare_recipes(recipe: Recipe, run: Path, reporter: Reporter) -> None:
    """Name every setting that differs from those that the folder was begun with; refuse what cannot be changed."""
    changed = differences(recipe_of_run(run), recipe)
    fixed = [change for change in changed if change.startswith(_FIXED)]
    if fixed:
        raise InputError(f"{run} was begun with other settings: {'; '.join(fixed)}; begin in another folder")
    for change in changed:
        reporter.say(f"changed since this training began: {change}")


def _compare_origins(origin: Origin, run: Path, reporter: Reporter) -> None:
    try:
        before = Origin(**json.loads(read_file(run / ORIGIN)))
    except (TypeError, ValueError):
        raise InputError(f"{run / ORIGIN}: damaged; begin in another folder") from None
    if before.data != origin.data:
        raise InputError(f"{run} was begun with other data than there is now; begin in another folder")
    for name, old, new in zip(Origin._fields, before, origin, strict=True):
        if old != new:
            reporter.say(f"changed since this training began: {name}: {old} -> {new}; last digits may differ")
