"""What a pointer network's recipe says."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import DataPath, Settings
from saccade.tasks.pointing.problems import ProblemKind
from saccade.tasks.pointing.settings import PointerModel
from saccade.training import BatchTrainSettings, Recipe

METRICS = ("exact_match", "loss")  # what validation gives


class PointingDataSettings(Settings):
    """What is learnt from: problems that the package makes, new ones at every step, or the user's own."""

    make: ProblemKind | None = None  # sort: numbers, in ascending order; hull: points, and their convex hull
    min_length: Annotated[int, Field(ge=1, le=1000)] = 5  # inputs of a made problem
    max_length: Annotated[int, Field(ge=1, le=1000)] = 10
    validation_size: Annotated[int, Field(ge=1, le=1_000_000)] = 1000  # made problems for validation
    seed: int = 0  # of made problems
    train: DataPath | None = None  # in place of make: JSON lines, {"inputs": [[x, y], ...], "answer": [i, j, ...]}
    valid: DataPath | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.make is None) == (self.train is None) or (self.train is None) != (self.valid is None):
            raise ValueError("wanted either make, such as data.make=sort, or both train and valid, files of problems")
        if self.min_length > self.max_length:
            raise ValueError(
                f"min_length: found {self.min_length}, wanted at most {self.max_length}, which is max_length"
            )
        return self


class PointingTrainSettings(BatchTrainSettings):
    """Optimisation, validation, and what is kept."""

    monitor: str = "exact_match"
    label_smoothing: Annotated[float, Field(ge=0, le=0)] = 0.0  # none: most positions cannot be meant at all


class PointingRecipe(Recipe[Literal["pointing"], PointingTrainSettings]):
    """Everything that `saccade train` wants to know."""

    data: PointingDataSettings
    model: PointerModel
    train: PointingTrainSettings = PointingTrainSettings()

    def metrics(self) -> Sequence[str]:
        return METRICS if self.data.make != "hull" else (*METRICS, "area")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        wanted = {"sort": 1, "hull": 2}.get(str(self.data.make), self.model.input_size)
        if self.model.input_size != wanted:
            raise ValueError(f"model.input_size: found {self.model.input_size}, wanted {wanted}, as data.make is")
        if self.data.make is not None and self.data.max_length >= self.model.max_length:
            raise ValueError(
                f"data.max_length: found {self.data.max_length}, wanted less than {self.model.max_length},"
                " model.max_length"
            )
        return self
