"""What a pointer network is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.attention import QUERY_SCORES
from saccade.attention.scores import POSITIONS, Activation, expect_activation
from saccade.base.settings import Settings, one_of
from saccade.nets.settings import Layers, Share, Size
from saccade.tasks.pointing.problems import ProblemKind


class _PointingSettings(Settings):
    """How inputs are pointed at, however they were read."""

    input_size: Annotated[int, Field(ge=1, le=4096)]  # numbers of an input: 1 to sort, 2 for points
    dim: Size = 128
    layers: Layers = 1  # of the encoder
    score: Annotated[str, one_of(QUERY_SCORES)] = "additive"
    score_activation: Activation = "tanh"  # of an additive score
    mask_visited: bool = True  # no input is pointed at twice
    rescale: bool = True  # the inputs of each problem are brought to -1 ... 1, where that cannot change the answer
    dropout: Share = 0.0
    max_length: Annotated[int, Field(ge=2, le=65_536)] = POSITIONS  # inputs of a problem, at most, END among them

    @model_validator(mode="after")
    def _even_and_within_reach(self) -> Self:
        if self.dim % 2:
            raise ValueError(f"dim: found {self.dim}, wanted an even number")
        if self.score in {"location", "mix"} and self.max_length > POSITIONS:
            raise ValueError(
                f"max_length: found {self.max_length}, wanted at most {POSITIONS} with the {self.score} score"
            )
        expect_activation(self.score, self.score_activation, name="score_activation")
        return self


class PointerLstmSettings(_PointingSettings):
    """Inputs are read one after the other, forward and backward, as published."""

    kind: Literal["lstm"]


class PointerTransformerSettings(_PointingSettings):
    """All inputs look at each other."""

    kind: Literal["transformer"]
    heads: Size = 4
    feed_forward: Size = 256
    positions: bool = True  # whether it knows in which order the inputs came; without, they are a set

    @model_validator(mode="after")
    def _heads_share_alike(self) -> Self:
        if self.dim % self.heads:
            raise ValueError(f"dim: found {self.dim}, wanted a multiple of heads, {self.heads}")
        return self


PointerModel = Annotated[PointerLstmSettings | PointerTransformerSettings, Field(discriminator="kind")]


class PointerSettings(Settings):
    """A model's config.yaml."""

    task: Literal["pointing"] = "pointing"
    problem: ProblemKind | None = None  # None: problems of the user's own
    min_length: Annotated[int, Field(ge=1)] = 1  # inputs of the problems that were learnt from
    max_length: Annotated[int, Field(ge=1)] = 1
    max_answer_length: Annotated[int, Field(ge=1)] = 1  # of those, END not counted
    model: PointerModel
