"""The stories that a memory network learns from: the user's, or made ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from saccade.base.errors import InputError
from saccade.base.fingerprint import fingerprint
from saccade.tasks.public_set import brought_by
from saccade.tasks.story_qa.made import make_stories
from saccade.tasks.story_qa.public import PUBLIC
from saccade.tasks.story_qa.recipe import StoryDataSettings
from saccade.tasks.story_qa.stories import Question, read_stories


class StorySplits(NamedTuple):
    """Questions to learn from and to validate with."""

    train: list[Question]
    valid: list[Question]

    def fingerprint(self) -> str:
        """A short text that other stories do not have."""
        return fingerprint(repr((len(part), one.story, one.question, one.answer)) for part in self for one in part)


def load_story_splits(settings: StoryDataSettings) -> StorySplits:
    """Read or make the stories. Questions about one story are on one side of the split."""
    if settings.make is not None:
        return split_stories(make_stories(settings.stories, seed=settings.seed), settings)
    assert settings.train is not None
    train = _read(settings.train, settings.tasks)
    if settings.valid is None:
        return split_stories(train, settings)
    return StorySplits(train, _read(settings.valid, None))


def split_stories(questions: Sequence[Question], settings: StoryDataSettings) -> StorySplits:
    """Hold out the same share of the stories of each task, at least one."""
    share = min(0.1, settings.validation_size / len(questions))
    by_task: dict[str, list[int]] = {}
    for one in questions:
        numbers = by_task.setdefault(one.task, [])
        if not numbers or numbers[-1] != one.number:
            numbers.append(one.number)
    held_out: set[tuple[str, int]] = set()
    for task, numbers in by_task.items():
        if len(numbers) < 2:
            raise InputError(f"{questions[0].where}: one story is too few to train and to validate; give data.valid")
        order = np.random.default_rng(settings.seed).permutation(len(numbers))
        held_out.update((task, numbers[index]) for index in order[: max(1, round(len(numbers) * share))])
    train = [one for one in questions if (one.task, one.number) not in held_out]
    return StorySplits(train, [one for one in questions if (one.task, one.number) in held_out])


def _read(name: str, tasks: Sequence[int] | None) -> list[Question]:
    if not Path(name).exists():
        raise InputError(
            f"{name}: no such file or folder{brought_by(name, PUBLIC)}; say where yours are: data.train=PATH"
        )
    return read_stories(Path(name), tasks=tasks)
