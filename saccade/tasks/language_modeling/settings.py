"""What a language model is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.attention import SCORES
from saccade.attention.scores import POSITIONS
from saccade.base.settings import Settings, one_of
from saccade.nets.settings import Layers, Share, Size, TransformerEncoderSettings, Weighting
from saccade.text.vocabularies.running import RunningVocabularySettings

PastScore = Annotated[str, one_of(["none", *SCORES])]
Context = Annotated[int, Field(ge=2, le=65_536)]


class LanguageRnnSettings(Settings):
    """A recurrent net that reads token by token, and may look back at its own earlier states."""

    kind: Literal["rnn"]
    cell: Literal["elman", "gru", "lstm"] = "lstm"
    layers: Layers = 1
    embedding: Size = 128  # size of a token's vector
    dim: Size = 128  # size of a state
    score: PastScore = "none"  # how earlier states are looked at; none: not at all
    weighting: Weighting = "soft"
    window: Annotated[int, Field(ge=1)] | None = None  # only so many of the last states are looked at; null: all
    input_feeding: bool = False  # the cell is told what was seen a step before
    tie_embeddings: Literal["none", "output"] = "none"  # output: the output's matrix is the embedding
    dropout: Share = 0.0
    max_length: Context = 64  # the context: tokens in a row, of training and of use

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.tie_embeddings == "output" and self.embedding != self.dim:
            raise ValueError(
                f"tie_embeddings: output wants embedding and dim to be equal, found {self.embedding} and {self.dim}"
            )
        if self.window is not None and self.score == "none":
            raise ValueError(f"window: found {self.window}, wanted null, for score: none looks at nothing")
        if self.score in {"location", "mix"} and self.max_length > POSITIONS:
            raise ValueError(
                f"max_length: found {self.max_length}, wanted at most {POSITIONS} with the {self.score} score"
            )
        return self


class LanguageTransformerSettings(TransformerEncoderSettings):
    """A Transformer's decoder alone: each token looks at itself and at those before it. As GPT-2 has it, if not told.

    `max_length` is the context: tokens in a row, of training and of use.
    """

    dim: Size = 128
    feed_forward: Size = 512
    positions: Literal["sinusoidal", "learned", "rotary", "none"] = "learned"
    activation: Literal["relu", "gelu"] = "gelu"
    tie_embeddings: Literal["none", "output"] = "output"  # output: the output's matrix is the embedding
    dropout: Share = 0.0
    max_length: Context = 64


NetSettings = Annotated[LanguageRnnSettings | LanguageTransformerSettings, Field(discriminator="kind")]


class LanguageModelSettings(Settings):
    """A model's config.yaml."""

    task: Literal["language_modeling"] = "language_modeling"
    model: NetSettings
    vocabulary: RunningVocabularySettings
