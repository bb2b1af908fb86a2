"""What the recipe of a reader of lines says."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import DataPath, Settings
from saccade.tasks.line_reading.settings import LineSettings
from saccade.training import BatchTrainSettings, Recipe

METRICS = ("exact_match", "loss")  # what validation gives


class LineDataSettings(Settings):
    """What is learnt from: lines of digits, those that the package draws or MNIST's."""

    train: DataPath | None = None  # MNIST's images (*images-idx3-ubyte*); without them, digits are drawn
    valid: DataPath | None = None
    lines: Annotated[int, Field(ge=10, le=1_000_000)] = 10_000
    validation_size: Annotated[int, Field(ge=1)] = 1000  # lines for validation, of digits that are not learnt from
    min_length: Annotated[int, Field(ge=1, le=100)] = 2  # digits of a line
    max_length: Annotated[int, Field(ge=1, le=100)] = 6
    seed: int = 0

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(
                f"min_length: found {self.min_length}, wanted at most {self.max_length}, which is max_length"
            )
        if (self.train is None) != (self.valid is None):
            raise ValueError("wanted both train and valid, or neither")
        return self


class LineTrainSettings(BatchTrainSettings):
    """Optimisation, validation, and what is kept."""

    monitor: str = "exact_match"


class LineRecipe(Recipe[Literal["line_reading"], LineTrainSettings]):
    """Everything that `saccade train` wants to know."""

    data: LineDataSettings = LineDataSettings()
    model: LineSettings
    train: LineTrainSettings = LineTrainSettings()

    def metrics(self) -> Sequence[str]:
        return METRICS

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.model.width != self.model.height * self.data.max_length:
            raise ValueError(
                f"model.width: found {self.model.width}, wanted {self.model.height * self.data.max_length}:"
                f" data.max_length digits of model.height pixels"
            )
        return self
