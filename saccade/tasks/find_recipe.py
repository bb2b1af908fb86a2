"""Recipes: the files that say how a model is made, those of the package and the user's own."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saccade.base.errors import InputError
from saccade.base.files import read_own
from saccade.base.settings import (
    MOST_BYTES,
    check_settings,
    decode_text,
    did_you_mean,
    override,
    parse_yaml,
    without_leftovers,
)
from saccade.tasks import TASKS
from saccade.tasks.kind import kind_of
from saccade.training import Recipe


def _files() -> dict[str, Path]:
    """The recipes of all tasks by name."""
    rooms = (Path(__file__).parent / task / "recipes" for task in TASKS)
    return {path.stem: path for room in rooms for path in sorted(room.glob("*.yaml"))}


def recipe_names() -> list[str]:
    """The recipes of the package."""
    return sorted(_files())


def recipe_text(name: str) -> str:
    """A recipe as it is written, comments and all: one of the package by its name, or a file."""
    shipped = _files()
    if name in shipped:
        return shipped[name].read_text(encoding="utf-8")
    path = Path(name)
    if not path.is_file():
        names = sorted(shipped)
        raise InputError(f"{name}: neither a file nor one of the recipes {', '.join(names)}{did_you_mean(name, names)}")
    return decode_text(read_own(path, most=MOST_BYTES), str(path))


def recipe_summary(name: str) -> str:
    """The first line of a recipe's comment."""
    return recipe_text(name).splitlines()[0].removeprefix("#").strip()


def load_recipe(name: str, assignments: Sequence[str] = ()) -> Recipe[Any, Any]:
    """The recipe of that name or file, with each `key=value` of `assignments` put in."""
    values = parse_yaml(recipe_text(name), where=name)
    if not isinstance(values, dict):
        raise InputError(f"{name}: found no settings there, wanted some, one `name: value` a line")
    values = _with_own_data(override(values, assignments), assignments)
    kind = kind_of(values.get("task"), where=name).recipe
    return check_settings(kind, without_leftovers(kind, values, assignments), where=name)


def _with_own_data(values: dict[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """Who names data of their own does not want what the recipe would have made, and need not say so."""
    data = values.get("data")
    own = any(re.match(r"data\.(train|captions|text)[.=]", assignment) for assignment in assignments)
    said = any(assignment.startswith("data.make=") for assignment in assignments)
    if not own or said or not isinstance(data, dict):
        return values
    return {**values, "data": {name: value for name, value in data.items() if name != "make"}}
