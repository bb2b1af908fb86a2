"""What a reader of lines is made of, as a recipe or a model's folder says it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from saccade.base.settings import Settings
from saccade.nets.line_encoder import NARROWING
from saccade.nets.settings import Share, Size
from saccade.text import VocabularySettings

CHARACTERS = VocabularySettings(kind="characters")


class LineSettings(Settings):
    """How a strip is read."""

    kind: Literal["ctc", "attention"]
    height: Annotated[int, Field(ge=8, le=256)] = 28  # strips are made so high
    width: Annotated[int, Field(ge=8, le=4096)] = 168  # and so wide
    dim: Size = 128
    dropout: Share = 0.1

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for name, size in (("height", self.height), ("width", self.width)):
            if size % NARROWING:
                raise ValueError(f"{name}: found {size}, wanted a multiple of {NARROWING}")
        if self.dim % 2:
            raise ValueError(f"dim: found {self.dim}, wanted an even number, half for each direction")
        return self


class LineReaderSettings(Settings):
    """A model's config.yaml."""

    task: Literal["line_reading"] = "line_reading"
    model: LineSettings
