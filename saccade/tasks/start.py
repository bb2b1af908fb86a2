"""Starting from another model: its weights and its vocabulary in a new training, `train.start_from=MODEL`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from saccade.base.errors import InputError
from saccade.base.model_folder import model_folder
from saccade.base.settings import Settings
from saccade.tasks.kind import AnyKind, Data
from saccade.tasks.load import kind_of_folder
from saccade.tasks.model import Model, Modules
from saccade.text import vocabulary_files
from saccade.text.vocabularies.growing import copy_vocabulary, grow_vocabulary
from saccade.training import NamedRows, Parts, Recipe, Reporter, Transfer, short_names, transfer

# of a net: with others, weights mean nothing
_OF_KIND = ("kind", "cell", "heads", "norm", "positions", "positions_combine", "activation")
_OF_VOCABULARY = ("kind", "joint", "lowercase", "method")


class Start(NamedTuple):
    """A model that a training begins with."""

    folder: Path
    kind: AnyKind
    model: Model[Any, Any]
    parts: Parts  # of its net, and where they go


def read_start(recipe: Recipe[Any, Any], kind: AnyKind, modules: Modules) -> Start | None:
    """The model that the recipe wants to start from, if any; one that does not fit is refused."""
    if recipe.train.start_from is None:
        return None
    try:
        return _read_start(Path(recipe.train.start_from), recipe, kind, modules)
    except InputError as error:
        raise InputError(f"train.start_from: {error}") from None


def _read_start(path: Path, recipe: Recipe[Any, Any], kind: AnyKind, modules: Modules) -> Start:
    folder = model_folder(path)
    other = kind_of_folder(folder)
    parts = kind.parts_from(other.name)
    if parts is None:
        known = " or ".join([kind.name, *kind.starts_from])
        raise InputError(f"{folder} is a model of {other.name}, wanted one of {known} to start {kind.name} from")
    model = other.model.load(folder, modules=modules if other is kind else None)
    start = Start(folder, other, model, parts)
    _expect_same(start, recipe, "model", _OF_KIND)
    _expect_same(start, recipe, "vocabulary", _OF_VOCABULARY)
    return start


def take_vocabulary(
    start: Start, recipe: Recipe[Any, Any], kind: AnyKind, data: Data, folder: Path, reporter: Reporter
) -> set[tuple[int, int]]:
    """Put the start's vocabulary into the folder where the task looks for its own, grown if that is wanted.

    Gives how many entries there were and are in each that has grown.
    """
    grow = recipe.train.grow_vocabulary
    vocabulary = dict(recipe).get("vocabulary")
    if grow and kind.vocabulary_texts is None:
        raise InputError(f"train.grow_vocabulary: a model of {kind.name} has no vocabulary that can grow; wanted false")
    texts = None if kind.vocabulary_texts is None else kind.vocabulary_texts(recipe, data)
    sizes: set[tuple[int, int]] = set()
    if vocabulary is None:  # rows are taken over by name
        return sizes
    for path in vocabulary_files(start.folder):
        stem = path.stem if texts is None else next(one for one in (path.stem, "joint", "target") if one in texts)
        copied = copy_vocabulary(path, folder, stem, kind=vocabulary.kind)
        if grow and texts is not None:
            before, now = grow_vocabulary(copied, vocabulary, texts[stem], reporter.say)
            sizes.add((before, now))
            reporter.say(f"vocabulary: {now - before:,} entries come to the {before:,} of {path}")
    return sizes


def take_weights(
    start: Start,
    recipe: Recipe[Any, Any],
    kind: AnyKind,
    model: Model[Any, Any],
    grown: set[tuple[int, int]],
    reporter: Reporter,
) -> Transfer:
    """Put the start's weights into the new model, and say what was taken, what is new, and what was left out."""
    rows: dict[str, NamedRows] = {}
    if start.kind is kind:
        before, now = (kind.named_rows(one) for one in (start.model, model))
        rows = {prefix: NamedRows(before[prefix], now[prefix]) for prefix in before.keys() & now.keys()}
    try:
        done = transfer(
            model.net, start.model.net, start.parts, grown=grown, rows=rows, hint=_what_differs(start, recipe)
        )
    except InputError as error:
        raise InputError(f"train.start_from: {start.folder}: {error}") from None
    if not done.taken:
        raise InputError(
            f"train.start_from: {start.folder}: it has nothing that this model could take over; choose another"
        )
    tensors = model.net.state_dict()
    count = sum(tensors[name].numel() for name in done.taken)
    said = [f"started from {start.folder}: {len(done.taken):,} tensors, {count:,} parameters"]
    said += [f"with new rows: {short_names(done.grown, model.net)}"] if done.grown else []
    said += [f"new: {short_names(done.new, model.net)}" if done.new else "nothing is new"]
    said += [f"left out: {short_names(done.left, start.model.net)}" if done.left else "nothing is left out"]
    reporter.say("; ".join(said))
    return done


def _group(settings: object, name: str) -> dict[str, Any]:
    """A group of settings, such as `model`, as plain values; nothing if there is none."""
    group = getattr(settings, name, None)
    return group.model_dump() if isinstance(group, Settings) else {}


def _differing(start: Start, recipe: Recipe[Any, Any], group: str) -> dict[str, tuple[Any, Any]]:
    """The settings of a group that both have, and that differ: as the start has them, and the recipe."""
    theirs, ours = _group(start.model.settings, group), _group(recipe, group)
    return {
        f"{group}.{name}": (theirs[name], ours[name]) for name in ours if name in theirs and theirs[name] != ours[name]
    }


def _expect_same(start: Start, recipe: Recipe[Any, Any], group: str, names: tuple[str, ...]) -> None:
    """Raise where settings differ without which the weights, or the numbers of words, mean something else."""
    differing = _differing(start, recipe, group)
    wrong: Mapping[str, tuple[Any, Any]] = {
        name: differing[name] for name in (f"{group}.{one}" for one in names) if name in differing
    }
    if f"{group}.method" in wrong and _group(recipe, group)["kind"] != "subwords":
        wrong = {name: pair for name, pair in wrong.items() if name != f"{group}.method"}
    if wrong:
        said = "; ".join(f"{name} is {before} there and {now} here" for name, (before, now) in wrong.items())
        remedy = " ".join(f"{name}={json.dumps(before)}" for name, (before, _) in wrong.items()).replace('"', "")
        raise InputError(f"{start.folder}: {said}; to start from it, say {remedy}")


def _what_differs(start: Start, recipe: Recipe[Any, Any]) -> str:
    """The settings of the net that differ, for a message about shapes."""
    differing = {name: pair for name, pair in _differing(start, recipe, "model").items() if "dropout" not in name}
    said = ", ".join(f"{name}: {before} there, {now} here" for name, (before, now) in differing.items())
    return f"; what differs: {said}" if said else ""
