"""What a classifier is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal

from pydantic import Field

from saccade.base.settings import Settings
from saccade.nets.settings import BlockSettings, ImageSize, Share, Size
from saccade.vision import Background


class CnnSettings(BlockSettings):
    """A small CNN, with self-attention between its blocks or without."""

    kind: Literal["cnn"]
    dropout: Share = 0.0


class MlpSettings(Settings):
    """Fully connected layers over all pixels: a baseline."""

    kind: Literal["mlp"]
    image_size: ImageSize = 32  # images are made so large
    hidden: Annotated[list[Size], Field(max_length=16)] = Field(default=[256])  # sizes of the layers between
    dropout: Share = 0.0


class GlimpseSettings(Settings):
    """The recurrent attention model (Mnih 2014), on images in grey."""

    kind: Literal["glimpses"]
    image_size: ImageSize = 28  # images are made so large
    glimpses: Annotated[int, Field(ge=1, le=100)] = 6
    patch_size: Annotated[int, Field(ge=1, le=256)] = 8  # pixels of a side of a glimpse
    scales: Annotated[int, Field(ge=1, le=6)] = 1  # how many times it is seen, each time twice as wide
    dim: Size = 256
    location_std: Annotated[float, Field(gt=0, le=1)] = (
        0.15  # how far locations are drawn from where they are meant to be
    )


ClassModel = Annotated[CnnSettings | MlpSettings | GlimpseSettings, Field(discriminator="kind")]


class ClassifierSettings(Settings):
    """A model's config.yaml."""

    task: Literal["classification"] = "classification"
    model: ClassModel
    classes: Annotated[list[str], Field(min_length=2)]
    background: Background | None = None  # of all images that were learnt from, if they are grey and have one
