"""What the nets of models are made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.attention import SCORES, WEIGHTINGS
from saccade.attention.positions import Combine
from saccade.attention.scores import POSITIONS, Activation, expect_activation
from saccade.base.settings import Settings, one_of
from saccade.nets.context import FIXED_CONTEXTS
from saccade.nets.small_cnn import Downsampling

Size = Annotated[int, Field(ge=1, le=65_536)]
Layers = Annotated[int, Field(ge=1, le=128)]
Share = Annotated[float, Field(ge=0, lt=1)]
ImageSize = Annotated[int, Field(ge=8, le=512)]
RnnScore = Annotated[str, one_of([*FIXED_CONTEXTS, *SCORES])]
Weighting = Annotated[str, one_of(list(WEIGHTINGS))]
PastScore = Annotated[str, one_of(["none", *SCORES])]
Context = Annotated[int, Field(ge=2, le=65_536)]


class RecurrentSettings(Settings):
    """What recurrent decoders have in common, whatever they look at."""

    kind: Literal["rnn"]
    cell: Literal["elman", "gru", "lstm"] = "gru"
    layers: Layers = 1  # of the encoder, if there is one, and of the decoder
    embedding: Size = 256  # size of a token's vector
    dim: Size = 256  # size of a state
    # none: the first state only; last, first: h_T or s_0 at every step; sum, mean: all states alike; static: by weights
    # that are learned, the same at every step
    score: RnnScore = "additive"
    score_activation: Activation = "tanh"  # of an additive score
    weighting: Weighting = "soft"
    order: Literal["bahdanau", "luong"] = "bahdanau"
    input_feeding: bool = False
    bridge: Literal["linear", "mlp"] = "linear"  # how the first state is made: a linear map, or one of two layers
    readout: bool = True  # false: P = softmax(W s_t), with nothing between state and output
    tie_embeddings: Literal["none", "output"] = "none"  # output: the output's matrix is the target's embedding
    dropout: Share = 0.2
    max_length: Annotated[int, Field(ge=2, le=65_536)] = POSITIONS  # tokens of a sentence, at most

    @model_validator(mode="after")
    def _sizes_fit_together(self) -> Self:
        if self.tie_embeddings == "output" and self.embedding != self.dim:
            raise ValueError(
                f"tie_embeddings: output wants embedding and dim to be equal, found {self.embedding} and {self.dim}"
            )
        if not self.readout and (self.order == "luong" or self.input_feeding):
            raise ValueError(
                "readout: found false, wanted true with order luong or input_feeding, where what was seen goes through"
                " the readout"
            )
        if self.score in {"location", "mix"} and self.max_length > POSITIONS:
            raise ValueError(
                f"max_length: found {self.max_length}, wanted at most {POSITIONS} with the {self.score} score"
            )
        expect_activation(self.score, self.score_activation, name="score_activation")
        return self


class TransformerEncoderSettings(Settings):
    """A stack of Transformer layers whose items look at each other."""

    kind: Literal["transformer"]
    layers: Layers = 4
    dim: Size = 256
    heads: Size = 4
    feed_forward: Size = 1024
    norm: Literal["pre", "post"] = "pre"
    positions: Literal["sinusoidal", "learned", "rotary", "none"] = "sinusoidal"
    positions_combine: Combine = "add"  # concatenate: they stand beside the embedding
    score: Literal["scaled-dot", "dot", "general", "cosine", "additive", "perceptron"] = "scaled-dot"
    score_activation: Activation = "tanh"  # of an additive score
    activation: Literal["relu", "gelu"] = "relu"
    dropout: Share = 0.1
    attention_dropout: Share = 0.0
    feed_forward_dropout: Share = 0.0  # between the two maps, where the paper has none
    max_length: Annotated[int, Field(ge=2, le=65_536)] = POSITIONS  # tokens of a sentence, at most

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.dim % self.heads:
            raise ValueError(f"dim: found {self.dim}, wanted a multiple of heads, {self.heads}")
        if self.positions == "sinusoidal" and self.dim % 2:
            raise ValueError(f"dim: found {self.dim}, wanted an even number for sinusoidal positions")
        if self.positions == "rotary" and self.dim // self.heads % 2:
            raise ValueError(f"dim / heads: found {self.dim // self.heads}, wanted an even number for rotary positions")
        if self.positions_combine == "concatenate" and self.positions in {"rotary", "none"}:
            raise ValueError(
                f"positions_combine: found concatenate, wanted add with positions: {self.positions}, which has nothing"
                " to stand beside an embedding; sinusoidal and learned positions have"
            )
        expect_activation(self.score, self.score_activation, name="score_activation")
        return self


class TransformerSettings(TransformerEncoderSettings):
    """The Transformer: encoder, if there are words to read, and decoder, as many layers of each."""

    tie_embeddings: Literal["none", "output", "all"] = "output"  # all: both embeddings too, with a joint vocabulary


class RnnReaderSettings(Settings):
    """A recurrent net that reads running text token by token, and may look back at its own earlier states."""

    kind: Literal["rnn"]
    cell: Literal["elman", "gru", "lstm"] = "lstm"
    layers: Layers = 1
    embedding: Size = 128  # size of a token's vector
    dim: Size = 128  # size of a state
    score: PastScore = "none"  # how earlier states are looked at; none: not at all
    score_activation: Activation = "tanh"  # of an additive score
    weighting: Weighting = "soft"
    window: Annotated[int, Field(ge=1)] | None = None  # only so many of the last states are looked at; null: all
    input_feeding: bool = False  # the cell is told what was seen a step before
    dropout: Share = 0.0
    max_length: Context = 64  # the context: tokens in a row, of training and of use

    @model_validator(mode="after")
    def _looks_fit(self) -> Self:
        if self.window is not None and self.score == "none":
            raise ValueError(f"window: found {self.window}, wanted null, for score: none looks at nothing")
        if self.score in {"location", "mix"} and self.max_length > POSITIONS:
            raise ValueError(
                f"max_length: found {self.max_length}, wanted at most {POSITIONS} with the {self.score} score"
            )
        expect_activation(self.score, self.score_activation, name="score_activation")
        return self


class TransformerReaderSettings(TransformerEncoderSettings):
    """A Transformer's decoder alone: each token looks at itself and at those before it. As GPT-2 has it, if not told.

    `max_length` is the context: tokens in a row, of training and of use.
    """

    dim: Size = 128
    feed_forward: Size = 512
    positions: Literal["sinusoidal", "learned", "rotary", "none"] = "learned"
    activation: Literal["relu", "gelu"] = "gelu"
    dropout: Share = 0.0
    max_length: Context = 64


class LanguageRnnSettings(RnnReaderSettings):
    """The same, of a net that foresees each token that it reads."""

    tie_embeddings: Literal["none", "output"] = "none"  # output: the output's matrix is the embedding

    @model_validator(mode="after")
    def _tied_sizes_fit(self) -> Self:
        if self.tie_embeddings == "output" and self.embedding != self.dim:
            raise ValueError(
                f"tie_embeddings: output wants embedding and dim to be equal, found {self.embedding} and {self.dim}"
            )
        return self


class LanguageTransformerSettings(TransformerReaderSettings):
    """The same, of a net that foresees each token that it reads."""

    tie_embeddings: Literal["none", "output"] = "output"  # output: the output's matrix is the embedding


LanguageNetSettings = Annotated[LanguageRnnSettings | LanguageTransformerSettings, Field(discriminator="kind")]


class BlockSettings(Settings):
    """A small CNN of plain blocks, each of which halves the sides of the image."""

    image_size: ImageSize = 64  # images are made so large
    channels: Annotated[list[Size], Field(min_length=1, max_length=6)] = Field(default=[32, 64, 128])  # of each block
    downsampling: Downsampling = "max"  # how they are halved: max or average pooling; or stride, of the convolution
    attend_after: list[int] = Field(default=[])  # blocks with self-attention after them, counted from 1

    @model_validator(mode="after")
    def _blocks_fit_together(self) -> Self:
        if self.image_size < 2 ** len(self.channels):
            wanted = f"at least {2 ** len(self.channels)}, as each of {len(self.channels)} blocks halves it"
            raise ValueError(f"image_size: found {self.image_size}, wanted {wanted}")
        strange = [number for number in self.attend_after if not 1 <= number <= len(self.channels)]
        if strange:
            raise ValueError(f"attend_after: found {strange[0]}, wanted a block from 1 to {len(self.channels)}")
        return self
