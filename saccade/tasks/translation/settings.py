"""What a translator is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import Settings
from saccade.nets.settings import RecurrentSettings, TransformerSettings
from saccade.text import VocabularySettings


class RnnSettings(RecurrentSettings):
    """A recurrent encoder and decoder, without and with attention."""

    bidirectional: bool = True  # the encoder reads forward and backward, with half of dim for each

    @model_validator(mode="after")
    def _halves(self) -> Self:
        if self.bidirectional and self.dim % 2:
            raise ValueError(f"dim: found {self.dim}, wanted an even number, half for each direction")
        return self


class TranslatorSettings(Settings):
    """A model's config.yaml."""

    task: Literal["translation"] = "translation"
    model: Annotated[RnnSettings | TransformerSettings, Field(discriminator="kind")]
    vocabulary: VocabularySettings

    @model_validator(mode="after")
    def _fits_together(self) -> "TranslatorSettings":
        expect_joint_if_tied(self.model, self.vocabulary)
        return self


def expect_joint_if_tied(model: RnnSettings | TransformerSettings, vocabulary: VocabularySettings) -> None:
    """Raise if embeddings are to be shared between two vocabularies."""
    if model.tie_embeddings == "all" and not vocabulary.joint:
        raise ValueError(
            "model.tie_embeddings: all wants a joint vocabulary; set vocabulary.joint to true, or tie_embeddings to"
            " output"
        )
