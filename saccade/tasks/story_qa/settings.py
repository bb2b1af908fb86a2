"""What a memory network is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal

from pydantic import Field

from saccade.base.settings import Settings
from saccade.nets.settings import Share, Size


class MemN2NSettings(Settings):
    """An end-to-end memory network (Sukhbaatar 2015)."""

    kind: Literal["memn2n"] = "memn2n"
    dim: Size = 50
    hops: Annotated[int, Field(ge=1, le=20)] = 3
    tying: Literal["adjacent", "layer-wise"] = "adjacent"
    encoding: Literal["position", "bag"] = "position"
    memory_size: Annotated[int, Field(ge=1, le=10_000)] = 50  # the most recent so many sentences of a story
    null_memories: Annotated[int, Field(ge=0, le=10_000)] = (
        1  # memories with nothing in them, for hops that find nothing
    )
    random_noise: Share = 0.1  # in training, so many empty memories for each sentence, at most
    dropout: Share = 0.0  # of the sentences' vectors


class MemoryNetworkSettings(Settings):
    """A model's config.yaml."""

    task: Literal["story_qa"] = "story_qa"
    model: MemN2NSettings
