"""The tasks: one folder each, and the one table that lists them."""

import importlib

# A folder of this room, under the name that recipes and models give it as their `task`. Each has its commands in its
# `__init__.py`, as COMMANDS, and all else in `kind.py`, as KIND. Nothing of a task is imported before it is asked for:
# torch takes seconds, and `saccade --help` should not.
TASKS = (
    "translation",
    "language_modeling",
    "captioning",
    "classification",
    "text_classification",
    "line_reading",
    "pointing",
    "story_qa",
    "algorithms",
)


def commands() -> dict[str, tuple[str, str]]:
    """The commands of all tasks by name: the module of each, and what it does in a few words."""
    found: dict[str, tuple[str, str]] = {}
    for task in TASKS:
        package = importlib.import_module(f"saccade.tasks.{task}")
        found |= {name: (f"{package.__name__}.{name}", purpose) for name, purpose in package.COMMANDS.items()}
    return found
