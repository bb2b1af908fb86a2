"""What the recipe of a memory network says."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import DataPath, Settings
from saccade.tasks.story_qa.settings import MemN2NSettings
from saccade.training import BatchTrainSettings, Count, Recipe

METRICS = ("accuracy", "loss")  # what validation gives


class StoryDataSettings(Settings):
    """What is learnt from."""

    train: DataPath | None = None  # a folder of bAbI's files (qa*_train.txt), one such file, or JSON lines (*.jsonl)
    valid: DataPath | None = None  # a file; without it, stories are held out
    tasks: Annotated[list[int], Field(min_length=1)] | None = None  # of bAbI's twenty; null: all that are there
    make: Literal["stories"] | None = None  # in place of train: stories that the package makes
    stories: Annotated[int, Field(ge=10, le=1_000_000)] = 1000  # of made ones, with five questions each
    validation_size: Annotated[int, Field(ge=1)] = 2000  # questions for validation, of all tasks; at most a tenth
    seed: int = 0  # of made stories, and of what is held out

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.train is None) == (self.make is None):
            raise ValueError("wanted either train, such as data.train=babi/en, or make: data.make=stories")
        return self


class StoryTrainSettings(BatchTrainSettings):
    """Optimisation, validation, and what is kept."""

    batch_size: Count = 32  # questions in a batch
    clip_norm: Annotated[float, Field(gt=0)] | None = 40.0  # the highest norm of the gradient, as published
    label_smoothing: Annotated[float, Field(ge=0, lt=1)] = 0.0
    linear_start: Annotated[int, Field(ge=0)] = 0  # epochs without softmax in the hops, to begin with
    monitor: str = "accuracy"


class StoryRecipe(Recipe[Literal["story_qa"], StoryTrainSettings]):
    """Everything that `saccade train` wants to know."""

    data: StoryDataSettings
    model: MemN2NSettings = MemN2NSettings()
    train: StoryTrainSettings = StoryTrainSettings()

    def metrics(self) -> Sequence[str]:
        return METRICS
