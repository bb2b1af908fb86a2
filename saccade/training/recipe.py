"""What every recipe has."""

from collections.abc import Sequence
from typing import Generic, Self, TypeVar

from pydantic import model_validator

from saccade.base.settings import Settings
from saccade.training.settings import TrainSettings

TaskName = TypeVar("TaskName", bound=str)
TrainT = TypeVar("TrainT", bound=TrainSettings)


class Recipe(Settings, Generic[TaskName, TrainT]):
    """How a model is made: what it learns from, what it is made of, how it is trained. One class for each task.

    `Recipe[Literal["tagging"], TrainSettings]` is what the recipes of tagging begin with; `data`, `model` and whatever
    else the task wants to know come to it.
    """

    task: TaskName
    train: TrainT

    def metrics(self) -> Sequence[str]:
        """The names of the metrics that validation gives."""
        return ("loss",)

    @model_validator(mode="after")
    def _monitors_a_figure(self) -> Self:
        if self.train.monitor not in self.metrics():
            raise ValueError(f"train.monitor: found {self.train.monitor!r}, wanted one of {', '.join(self.metrics())}")
        return self
