"""What a translator is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import Settings
from saccade.nets import settings as nets
from saccade.nets.context import FIXED_CONTEXTS
from saccade.nets.settings import RecurrentSettings
from saccade.text import VocabularySettings

Purpose = Literal["translate", "summarize", "answer"]  # what a model is for, and the command that does it


class RnnSettings(RecurrentSettings):
    """A recurrent encoder and decoder, without and with attention."""

    bidirectional: bool = True  # the encoder reads forward and backward, with half of dim for each
    copying: bool = False  # words of the source can be copied, unknown ones too (See 2017)

    @model_validator(mode="after")
    def _fits_an_encoder(self) -> Self:
        if self.bidirectional and self.dim % 2:
            raise ValueError(f"dim: found {self.dim}, wanted an even number, half for each direction")
        if self.copying and (self.score in FIXED_CONTEXTS or self.weighting != "soft"):
            raise ValueError("copying: found true, wanted attention to copy by: weighting soft, and a score with it")
        return self


class TransformerSettings(nets.TransformerSettings):
    """Encoder and decoder."""

    copying: bool = False  # as above


class TranslatorSettings(Settings):
    """A model's config.yaml."""

    task: Literal["translation"] = "translation"
    purpose: Purpose = "translate"
    model: Annotated[RnnSettings | TransformerSettings, Field(discriminator="kind")]
    vocabulary: VocabularySettings

    @model_validator(mode="after")
    def _fits_together(self) -> "TranslatorSettings":
        expect_vocabulary(self.model, self.vocabulary)
        return self


def expect_vocabulary(model: RnnSettings | TransformerSettings, vocabulary: VocabularySettings) -> None:
    """Raise if embeddings, or what can be copied, are to be shared between two vocabularies."""
    if model.tie_embeddings == "all" and not vocabulary.joint:
        raise ValueError(
            "model.tie_embeddings: all wants a joint vocabulary; set vocabulary.joint to true, or tie_embeddings to"
            " output"
        )
    if model.copying and not vocabulary.joint:
        raise ValueError("model.copying: what is copied is written as it was read; set vocabulary.joint to true")
    if model.copying and vocabulary.bpe_dropout:
        raise ValueError("vocabulary.bpe_dropout: wanted 0 with model.copying, which copies words as they were cut")
