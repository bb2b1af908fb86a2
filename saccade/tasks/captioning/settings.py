"""What a captioner is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.attention.positions import Combine
from saccade.base.settings import Settings
from saccade.nets import GRIDS, small_cnn_side
from saccade.nets.efficientnet import SIDE
from saccade.nets.settings import BlockSettings, RecurrentSettings, Size, TransformerSettings
from saccade.text import VocabularySettings


class GridSize(Settings):
    """What a decoder gets to look at: `side` x `side` regions of so many channels."""

    side: int
    channels: int


class PretrainedEncoderSettings(Settings):
    """EfficientNet-Lite0 with its ImageNet weights, which stay as they are, unless they are fine-tuned."""

    kind: Literal["efficientnet-lite0"]
    level: Literal["middle", "top", "head"] = "head"  # 14 x 14 x 112, 7 x 7 x 320 or 7 x 7 x 1280
    fine_tune: bool = False  # it learns with the rest: images go through it at each step, and no features are kept

    @property
    def is_frozen(self) -> bool:
        """Whether features are computed once, and the net begins with them."""
        return not self.fine_tune

    @property
    def image_size(self) -> int:
        return SIDE

    @property
    def grid(self) -> GridSize:
        side, channels = GRIDS[self.level]
        return GridSize(side=side, channels=channels)


class SmallEncoderSettings(BlockSettings):
    """A small CNN that is trained with the rest, from nothing."""

    kind: Literal["small"]

    @property
    def is_frozen(self) -> bool:
        return False

    @property
    def grid(self) -> GridSize:
        return GridSize(
            side=small_cnn_side(self.image_size, len(self.channels), downsampling=self.downsampling),
            channels=self.channels[-1],
        )


class OwnEncoderSettings(Settings):
    """A module of the user's own, handed over from Python: `[B, 3, H, W]`, from -1 to 1, -> `[B, C, side, side]`.

    It is trained with the rest, but for weights that need no gradient. All of them are in the model's folder.
    """

    kind: Literal["own"]
    image_size: Annotated[int, Field(ge=8, le=1024)] = 64  # images are made so large
    side: Annotated[int, Field(ge=1, le=128)]  # of the grid
    channels: Size
    name: str = ""  # of its class, for messages

    @property
    def is_frozen(self) -> bool:
        return False

    @property
    def grid(self) -> GridSize:
        return GridSize(side=self.side, channels=self.channels)


class CaptionRnnSettings(RecurrentSettings):
    """Show, Attend and Tell (Xu 2015)."""

    cell: Literal["elman", "gru", "lstm"] = "lstm"
    positions_combine: Combine = "add"  # of the regions; concatenate: they stand beside the features
    gate: bool = True  # how much of what it sees the decoder wants, at each word
    doubly_stochastic: Annotated[float, Field(ge=0)] = 0.0  # how much it counts that no place is left unseen

    @model_validator(mode="after")
    def _looks_at_an_image(self) -> Self:
        if self.score == "last":
            raise ValueError("score: found last, wanted first or mean: an image's regions have no last one")
        return self


ImageEncoderSettings = Annotated[
    PretrainedEncoderSettings | SmallEncoderSettings | OwnEncoderSettings, Field(discriminator="kind")
]
CaptionModel = Annotated[CaptionRnnSettings | TransformerSettings, Field(discriminator="kind")]


class CaptionerSettings(Settings):
    """A model's config.yaml."""

    task: Literal["captioning"] = "captioning"
    image_encoder: ImageEncoderSettings
    model: CaptionModel
    vocabulary: VocabularySettings

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        expect_caption_words(self.model, self.vocabulary)
        return self


def expect_caption_words(model: CaptionRnnSettings | TransformerSettings, vocabulary: VocabularySettings) -> None:
    """Raise if embeddings are to be shared with a source, of which there is none, or words to be cut anew each time."""
    if vocabulary.bpe_dropout:
        raise ValueError("vocabulary.bpe_dropout: it is for translation; wanted 0")
    if vocabulary.lowercase:
        raise ValueError("vocabulary.lowercase: it is for translation; wanted false, and data.lowercase for captions")
    if model.tie_embeddings == "all":
        raise ValueError("model.tie_embeddings: all is for translation; images have no words, so wanted output or none")
