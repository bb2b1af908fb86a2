"""From a recipe and a folder to a finished model, going on where a training was broken off."""

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from saccade.base.errors import InputError, Stopped
from saccade.base.files import is_leftover, read_own, remove_leftovers, write_file
from saccade.base.lock import LOCK, locked
from saccade.base.model_folder import MODEL, RUN, file_digest
from saccade.base.settings import differences, located, path_settings, write_yaml
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.kind import Data, kind_of
from saccade.tasks.model import Modules
from saccade.tasks.start import read_start, take_vocabulary, take_weights
from saccade.text import VOCABULARY, remove_vocabularies, vocabulary_files
from saccade.training import CHECKPOINT, Callback, Recipe, Reporter, Stopping, Transfer, describe, train

RECIPE = "recipe.yaml"
# What may change while a training is broken off: with other data or another net, the checkpoint would be of no use.
_FREE = ("train.", "validation.")
# Of these, what it began with is in the checkpoint, and what it is made of.
_FIXED = ("train.start_from", "train.grow_vocabulary", "train.lora")
_FORMAT = "saccade run"
_MOST_BYTES = 1 << 20
_MOST_FOLDERS = 10


class Origin(NamedTuple):
    """The file that a run's folder is known by: what it depends on besides its recipe, to go on bit for bit."""

    data: str  # a fingerprint of what is learnt from
    own_data: bool  # a program handed it over, and the recipe does not name it
    threads: int
    torch: str
    folders: list[list[str]]  # that it was started from: as they are seen from the run's folder, and from the root
    vocabulary: dict[str, str]  # the checksum of each of its files
    new: list[str]  # parameters that the model which it was started from has not; none if there was no such model
    grown: list[str]  # and those that have rows which it has not

    def known_folders(self, run: Path) -> list[Path]:
        """Where the recipe's paths may lead from: a run may have been moved with its data, or without."""
        return [folder for near, far in self.folders for folder in (run / near, Path(far))]


def start_training(
    recipe: Recipe[Any, Any],
    run: Path,
    reporter: Reporter,
    *,
    own: bool = False,
    data: Data | None = None,
    callbacks: Sequence[Callback] = (),
    modules: Modules | None = None,
) -> dict[str, float]:
    """Train as the recipe says, in the folder `run`. If a training was broken off there, it goes on.

    own      the recipe is that of the run: its paths are meant as they were when it was begun
    data     is given from in place of what the recipe names
    modules  parts of the model that are the user's own
    """
    with Stopping() as stopping:
        try:
            return _train(
                recipe, run, reporter, stopping, own=own, data=data, callbacks=callbacks, modules=modules or {}
            )
        except Stopped as stopped:
            raise Stopped(f"{stopped}; to go on: saccade train --run {shlex.quote(str(run))}", stopped.signal) from None
        except KeyboardInterrupt:
            if stopping.asked is None:
                raise
            raise Stopped("stopped before the first step; there was nothing to save", stopping.asked) from None


def _train(
    recipe: Recipe[Any, Any],
    run: Path,
    reporter: Reporter,
    stopping: Stopping,
    *,
    own: bool,
    data: Data | None,
    callbacks: Sequence[Callback],
    modules: Modules,
) -> dict[str, float]:
    before = _origin_of(run)
    if recipe.train.threads is not None:
        torch.set_num_threads(recipe.train.threads)
    known = [] if before is None else before.known_folders(run)
    here = Path.cwd()
    # first: of a recipe whose data is not there, no folder should remain
    found = located(recipe, [*known, here] if own else [Path(), *known])
    kind = kind_of(found.task, where="the recipe")
    kind.expect(data, modules)
    if data is None and before is not None and before.own_data:
        raise InputError(
            f"{run} was begun with data that a program handed over; hand it over again,"
            " saccade.train(run=..., data=...), or begin in another folder"
        )
    given: Data = kind.load_data(found, reporter.say) if data is None else data
    start = None if (run / CHECKPOINT).exists() else read_start(found, kind, modules)
    with locked(run):
        resuming = (run / CHECKPOINT).exists()
        folder = [os.path.relpath(here, run), str(here)]
        folders = [folder, *(one for one in (before.folders if before else []) if one != folder)][:_MOST_FOLDERS]
        now = (given.fingerprint(), data is not None, torch.get_num_threads(), torch.__version__)
        origin = Origin(*now, folders, {}, [], [])
        if resuming and before is not None:
            _compare_recipes(recipe, run, reporter)
            _compare_origins(before, origin, recipe, run, reporter)
            _expect_vocabulary(before, run)
            origin = origin._replace(vocabulary=before.vocabulary, new=before.new, grown=before.grown)
        else:
            remove_vocabularies(run / VOCABULARY)  # of an attempt that did not get far
        _write_origin(origin, run)
        write_file(run / RECIPE, write_yaml(recipe).encode())
        remove_leftovers(run / VOCABULARY)
        with reporter:
            if start is None:
                task = kind.make_task(found, given, run, reporter, modules=modules)
                transferred = Transfer(grown=origin.grown, new=origin.new)
            else:
                grown = take_vocabulary(start, found, kind, given, run / VOCABULARY, reporter)
                task = kind.make_task(found, given, run, reporter, modules=modules)
                transferred = take_weights(start, found, kind, task.model, grown, reporter)
                origin = origin._replace(new=list(transferred.new), grown=list(transferred.grown))
            del start  # its weights are of no more use
            _write_origin(origin._replace(vocabulary=_vocabulary_of(run)), run)
            figures = train(task, recipe.train, run, reporter, stopping, callbacks, transferred)
            reporter.say(f"{run / MODEL}: {describe(figures)}")
    return figures


def _write_origin(origin: Origin, run: Path) -> None:
    write_file(run / RUN, json.dumps({"format": _FORMAT, "version": 1, **origin._asdict()}).encode())


def _vocabulary_of(run: Path) -> dict[str, str]:
    """The checksums of the files of a run's vocabulary, if it has one."""
    return {path.name: file_digest(path) for path in vocabulary_files(run / VOCABULARY)}


def _expect_vocabulary(before: Origin, run: Path) -> None:
    """Raise unless the vocabulary is as it was given: with another, a model would learn on to write other words."""
    now = _vocabulary_of(run)
    for name, digest in before.vocabulary.items():
        if now.get(name) != digest:
            raise InputError(
                f"{run / VOCABULARY / name}: damaged, or changed since it was given; begin again, in another folder"
            )


def recipe_of_run(run: Path, assignments: Sequence[str] = ()) -> Recipe[Any, Any]:
    """The recipe that a training was begun with, with each `key=value` of `assignments` put in."""
    path = run / RECIPE
    if _origin_of(run) is None or not path.is_file():
        raise InputError(f"{run}: no training was begun there; name a recipe, such as: saccade train dates --run {run}")
    return load_recipe(str(path), assignments)


def _origin_of(run: Path) -> Origin | None:
    """What the run's folder says of itself; None if it is empty or not there. One of somebody else's is refused."""
    path = run / RUN
    if not run.exists():
        return None
    if not run.is_dir():
        raise InputError(f"{run} is a file; name a folder for the training, one that is new or empty")
    if not path.exists():
        others = sorted(one.name for one in run.iterdir() if one.name != LOCK and not is_leftover(one.name))
        if others:
            raise InputError(
                f"{run} has other things in it, such as {others[0]}, and no training of saccade's ({RUN});"
                " choose a new folder, or an empty one"
            )
        return None
    try:
        record = json.loads(read_own(path, most=_MOST_BYTES))
        folders = [[str(near), str(far)] for near, far in record["folders"]]
        known = record["format"] == _FORMAT and record["version"] == 1
        words = {str(name): str(digest) for name, digest in record["vocabulary"].items()}
        names = ([str(name) for name in record.get(key, [])] for key in ("new", "grown"))
        data, own_data = str(record["data"]), bool(record["own_data"])
        origin = Origin(data, own_data, int(record["threads"]), str(record["torch"]), folders, words, *names)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        known, origin = False, None
    if not known:
        raise InputError(f"{path}: damaged, or not of this saccade; choose a new folder, or an empty one")
    return origin


def _compare_recipes(recipe: Recipe[Any, Any], run: Path, reporter: Reporter) -> None:
    """Name every setting that differs from those that the folder was begun with; refuse what cannot be changed.

    Where data lies may change: whether it is the same is seen from what it is.
    """
    before = recipe_of_run(run)
    paths = path_settings(before).keys() | path_settings(recipe).keys()
    changed = differences(before, recipe)
    fixed = [
        one
        for one in changed
        if one.startswith(_FIXED) or (not one.startswith(_FREE) and one.partition(":")[0] not in paths)
    ]
    if fixed:
        raise InputError(
            f"{run} was begun with other settings: {'; '.join(fixed)}; begin in another folder,"
            " or name no recipe to go on"
        )
    for change in changed:
        reporter.say(f"changed since this training began: {change}")


def _compare_origins(before: Origin, origin: Origin, recipe: Recipe[Any, Any], run: Path, reporter: Reporter) -> None:
    if before.data != origin.data:
        named = [f"{name}={path}" for name, path in path_settings(recipe).items() if name.startswith("data.")]
        remedy = f"name the files that it was begun with, in place of {' '.join(named)}, or " if named else ""
        raise InputError(f"{run} was begun with other data than there is now; {remedy}begin in another folder")
    for name in ("threads", "torch"):
        old, new = getattr(before, name), getattr(origin, name)
        if old != new:
            reporter.say(f"changed since this training began: {name}: {old} -> {new}; last digits may differ")
