"""Questions about stories as a task of the training loop."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field, model_validator
from torch import Tensor

from saccade.data import (
    Cursor,
    Question,
    ShuffledPlaces,
    StoryArrays,
    StoryWords,
    encode_stories,
    make_stories,
    read_stories,
)
from saccade.data.story_arrays import unknown_words
from saccade.errors import InputError
from saccade.models import Answerer, AnswererSettings, MemorySettings, recall_stories
from saccade.settings import DataPath, Settings
from saccade.tasks.common import count_parameters, expect_watched
from saccade.train import Reporter, Task, TrainSettings

FIGURES = ("accuracy", "loss")  # what validation gives
_AT_ONCE = 256  # questions of validation


class StoryDataSettings(Settings):
    """What is learnt from."""

    train: DataPath | None = None  # a folder of bAbI's files (qa*_train.txt), one such file, or JSON lines (*.jsonl)
    valid: DataPath | None = None  # a file; without it, stories are held out
    tasks: Annotated[list[int], Field(min_length=1)] | None = None  # of bAbI's twenty; null: all that are there
    make: Literal["stories"] | None = None  # in place of train: stories that the package makes
    stories: Annotated[int, Field(ge=10, le=1_000_000)] = 1000  # of made ones, with five questions each
    hold_out: Annotated[int, Field(ge=1)] = 2000  # questions for validation, of all tasks; at most a tenth
    seed: int = 0  # of made stories, and of what is held out

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.train is None) == (self.make is None):
            raise ValueError("wanted either train, such as data.train=babi/en, or make: data.make=stories")
        return self


class StoryTrainSettings(TrainSettings):
    """Optimisation, validation, and what is kept."""

    batch: Annotated[int, Field(ge=1)] = 32  # questions in a batch
    clip: Annotated[float, Field(gt=0)] | None = 40.0  # the highest norm of the gradient, as published
    label_smoothing: Annotated[float, Field(ge=0, lt=1)] = 0.0
    linear_start: Annotated[int, Field(ge=0)] = 0  # epochs without softmax in the hops, to begin with
    watch: str = "accuracy"


class StoryRecipe(Settings):
    """Everything that `saccade train` wants to know."""

    task: Literal["stories"]
    data: StoryDataSettings
    model: MemorySettings = MemorySettings()
    train: StoryTrainSettings = StoryTrainSettings()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        expect_watched(self.train, FIGURES)
        return self


class StorySplits(NamedTuple):
    """Questions to learn from and to validate with."""

    train: list[Question]
    valid: list[Question]

    def fingerprint(self) -> str:
        """A short text that other stories do not have."""
        digest = hashlib.sha256()
        for part in self:
            digest.update(f"{len(part)}\n".encode())
            for one in part:
                digest.update(repr((one.story, one.question, one.answer)).encode())
        return digest.hexdigest()[:16]


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
    share = min(0.1, settings.hold_out / len(questions))
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
        held_out.update((task, numbers[place]) for place in order[: max(1, round(len(numbers) * share))])
    train = [one for one in questions if (one.task, one.number) not in held_out]
    return StorySplits(train, [one for one in questions if (one.task, one.number) in held_out])


def _read(name: str, tasks: Sequence[int] | None) -> list[Question]:
    if not Path(name).exists():
        raise InputError(f"{name}: no such file or folder; say where yours are: data.train=PATH")
    return read_stories(Path(name), tasks=tasks)


def _tell_what_is_lost(splits: StorySplits, words: StoryWords, memory: int, reporter: Reporter) -> None:
    """Say how many stories are longer than the memory, and what of the validation was never seen in training."""
    for name, part in splits._asdict().items():
        long = [one for one in part if len(one.story) > memory]
        if long:
            reporter.say(
                f"data.{name}: {len(long):,} of {len(part):,} questions come after more than model.memory={memory}"
                f" sentences, of which the first are forgotten; see {long[0].where}"
            )
    strange = [one for one in splits.valid if unknown_words(one, words, memory=memory)]
    if strange:
        first = ", ".join(unknown_words(strange[0], words, memory=memory)[:3])
        reporter.say(
            f"data.valid: {len(strange):,} of {len(splits.valid):,} questions have words that data.train has not, which"
            f" are passed over; see {strange[0].where}: {first}"
        )
    unheard = [one for one in splits.valid if not words.number(one.answer)]
    if unheard:
        reporter.say(
            f"data.valid: {len(unheard):,} of {len(splits.valid):,} answers are not in data.train, and count as wrong;"
            f" see {unheard[0].where}: {unheard[0].answer}"
        )


class StoryBatch(NamedTuple):
    """Questions, and whether it is too early for a softmax."""

    arrays: StoryArrays
    linear: bool


class StoryTask(Task[StoryBatch]):
    """Stories with questions, an answerer, and how often it is right."""

    unit = "questions"

    def __init__(self, recipe: StoryRecipe, splits: StorySplits, run: Path, reporter: Reporter) -> None:
        self.recipe = recipe
        self.splits = splits
        words = StoryWords.learn(splits.train)
        torch.manual_seed(recipe.train.seed)
        self.answerer = Answerer.make(AnswererSettings(model=recipe.model), words)
        self.net = self.answerer.net
        memory = recipe.model.memory
        self._train, self._valid = (encode_stories(part, words, memory=memory) for part in splits)
        self._places = ShuffledPlaces(len(splits.train), batch=recipe.train.batch, seed=recipe.train.seed)
        _tell_what_is_lost(splits, words, memory, reporter)
        reporter.say(
            f"{len(splits.train):,} questions to train on, {len(splits.valid):,} for validation;"
            f" {len(words) - 1:,} words; {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[StoryBatch, Cursor]]:
        for places, after in self._places.stream(cursor):
            yield StoryBatch(self._train.select(places), after.epoch < self.recipe.train.linear_start), after

    def loss(self, batch: StoryBatch) -> tuple[Tensor, int]:
        self.answerer.net.linear.fill_(int(batch.linear))  # kept with the weights, which are of no use without it
        found = recall_stories(self.answerer.net, batch.arrays)
        answers = torch.from_numpy(batch.arrays.answers)
        # the first word is none, and never an answer
        smoothing = self.recipe.train.label_smoothing
        loss = F.cross_entropy(found.logits[:, 1:], answers - 1, reduction="sum", label_smoothing=smoothing)
        return loss, len(answers)

    def validate(self) -> dict[str, float]:
        """The cross entropy of an answer, and the percentage that is right. An answer never seen is always wrong."""
        total, right, known = 0.0, 0, 0
        for first in range(0, len(self.splits.valid), _AT_ONCE):
            part = self._valid.select(np.arange(first, min(first + _AT_ONCE, len(self.splits.valid))))
            logits = recall_stories(self.answerer.net, part).logits[:, 1:]
            answers = torch.from_numpy(part.answers) - 1  # -1: not a word of the training
            total += F.cross_entropy(logits, answers, reduction="sum", ignore_index=-1).item()
            right += int((logits.argmax(-1) == answers).sum())
            known += int((answers >= 0).sum())
        return {"loss": total / max(known, 1), "accuracy": 100 * right / len(self.splits.valid)}

    def save_model(self, folder: Path) -> None:
        self.answerer.save(folder)
