"""What a classifier's recipe says."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import DataPath, Settings
from saccade.tasks.classification.settings import ClassModel
from saccade.training import BatchTrainSettings, Recipe

METRICS = ("accuracy", "loss")  # what validation gives


class LabelledDataSettings(Settings):
    """What is learnt from."""

    train: DataPath | None = None  # a folder with one of images for each class, or MNIST's images (*images-idx3-ubyte*)
    valid: DataPath | None = None  # the same; without it, validation_size images are kept aside
    make: Literal["shapes", "digits"] | None = None  # in place of train: images that the package draws
    images: Annotated[int, Field(ge=10, le=1_000_000)] = 8000  # of made ones
    seed: int = 0  # of made images, and of what is held out
    validation_size: Annotated[int, Field(ge=1)] = 1000  # images for validation, where valid is not given
    random_shift: Annotated[int, Field(ge=0, le=64)] = 0  # in training, images are moved by up to so many pixels
    horizontal_flip: bool = False  # and every other one is mirrored

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.train is None) == (self.make is None):
            raise ValueError(
                "wanted either train, such as data.train=photos data.make=null, or make, such as data.make=shapes"
            )
        return self


class ClassificationTrainSettings(BatchTrainSettings):
    """Optimisation, validation, and what is kept."""

    monitor: str = "accuracy"


class ClassificationRecipe(Recipe[Literal["classification"], ClassificationTrainSettings]):
    """Everything that `saccade train` wants to know."""

    data: LabelledDataSettings
    model: ClassModel
    train: ClassificationTrainSettings = ClassificationTrainSettings()

    def metrics(self) -> Sequence[str]:
        return METRICS
