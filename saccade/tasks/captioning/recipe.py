"""What a captioner's recipe says."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import DataPath, Settings
from saccade.tasks.captioning.settings import CaptionModel, ImageEncoderSettings, expect_caption_words
from saccade.text import VocabularySettings
from saccade.training import Recipe, TokenTrainSettings


class CaptionDataSettings(Settings):
    """What is learnt from."""

    images: DataPath | None = None  # the folder of the images
    captions: DataPath | None = None  # CSV, TSV, JSON lines, Flickr8k's token file, or Karpathy's JSON
    train: DataPath | None = None  # a file with the names of images to learn from, or a split that captions names
    valid: DataPath | None = None  # the same; without it, validation_size images are kept aside
    bad_images: Literal["skip", "stop"] = "skip"  # what to do about those that cannot be read
    lowercase: bool = True  # captions in lower case and without punctuation, as they are scored
    make: Literal["shapes"] | None = None  # in place of images: scenes with exact captions
    scenes: Annotated[int, Field(ge=10, le=1_000_000)] = 8000  # of made ones
    seed: int = 0  # of made scenes, and of what is held out
    validation_size: Annotated[int, Field(ge=1)] = 500  # images for validation
    cache: DataPath | None = None  # where the features of images are kept; without it, in the user's cache

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.make is None and (self.images is None or self.captions is None):
            raise ValueError(
                "wanted images and captions, such as data.images=photos data.captions=captions.csv,"
                " or make, such as data.make=shapes"
            )
        if self.make is not None and (self.images is not None or self.captions is not None):
            raise ValueError("wanted either images and captions, or make, and not both; data.make=null for your own")
        return self


METRICS = (
    "bleu1",
    "bleu2",
    "bleu3",
    "bleu4",
    "rouge_l",
    "cider",
    "exact_match",
    "pointing_game",
    "loss",
)  # what validation gives


class CaptionTrainSettings(TokenTrainSettings):
    """Optimisation, validation, and what is kept."""

    monitor: str = "cider"


class CaptionValidationSettings(Settings):
    """How a model is looked at while it is trained."""

    images: Annotated[int, Field(ge=1)] = 1000  # how many are captioned, at most; the loss takes all
    beam: Annotated[int, Field(ge=1, le=100)] = 1


class CaptionRecipe(Recipe[Literal["captioning"], CaptionTrainSettings]):
    """Everything that `saccade train` wants to know."""

    data: CaptionDataSettings
    vocabulary: VocabularySettings = VocabularySettings(kind="words")
    image_encoder: ImageEncoderSettings
    model: CaptionModel
    train: CaptionTrainSettings = CaptionTrainSettings()
    validation: CaptionValidationSettings = CaptionValidationSettings()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        expect_caption_words(self.model, self.vocabulary)
        return self

    def metrics(self) -> Sequence[str]:
        return METRICS
