"""What a machine's recipe says."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from saccade.base.settings import Settings
from saccade.tasks.algorithms.problems import AlgorithmSettings
from saccade.tasks.algorithms.settings import AlgorithmModel
from saccade.training import BatchTrainSettings, Count, Recipe

METRICS = ("loss", "accuracy", "accuracy_at_length")  # what validation gives


class AlgorithmTrainSettings(BatchTrainSettings):
    """Optimisation, validation, and what is kept."""

    batch_size: Count = 16  # sequences in a batch, all of one length
    # steps in which the lengths grow to data.max_length, and the repeats after them
    curriculum_steps: Annotated[int, Field(ge=0)] = 0


class AlgorithmValidation(Settings):
    """What validation looks at."""

    sequences: Annotated[int, Field(ge=1, le=100_000)] = 320  # of lengths as in training
    length: Annotated[int, Field(ge=1, le=10_000)] | None = None  # and of this one: does it know the algorithm?


class AlgorithmRecipe(Recipe[Literal["algorithms"], AlgorithmTrainSettings]):
    """Everything that `saccade train` wants to know."""

    data: AlgorithmSettings
    model: AlgorithmModel
    train: AlgorithmTrainSettings = AlgorithmTrainSettings()
    validation: AlgorithmValidation = AlgorithmValidation()

    def metrics(self) -> Sequence[str]:
        return METRICS if self.validation.length is not None else METRICS[:2]
