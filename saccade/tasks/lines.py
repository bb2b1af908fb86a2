"""Reading lines of digits as a task of the training loop."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor

from saccade.data import (
    Cursor,
    Labelled,
    Lines,
    ShuffledPlaces,
    learn_vocabulary,
    make_digits,
    make_lines,
    read_labelled,
)
from saccade.models import LineReader, LineReaderSettings, LineSettings
from saccade.models.line_reader import CHARACTERS, as_input
from saccade.settings import DataPath, Settings
from saccade.tasks.common import count_parameters, expect_watched
from saccade.train import ImageTrainSettings, Reporter, Task

FIGURES = ("exact", "loss")  # what validation gives
_AT_ONCE = 128  # strips of validation
_DIGITS = 5000  # made ones, to make lines of


class LineDataSettings(Settings):
    """What is learnt from: lines of digits, those that the package draws or MNIST's."""

    train: DataPath | None = None  # MNIST's images (*images-idx3-ubyte*); without them, digits are drawn
    valid: DataPath | None = None
    lines: Annotated[int, Field(ge=10, le=1_000_000)] = 10_000
    hold_out: Annotated[int, Field(ge=1)] = 1000  # lines for validation, of digits that are not learnt from
    fewest: Annotated[int, Field(ge=1, le=100)] = 2  # digits of a line
    most: Annotated[int, Field(ge=1, le=100)] = 6
    seed: int = 0

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.fewest > self.most:
            raise ValueError(f"fewest: found {self.fewest}, wanted at most {self.most}, which is most")
        if (self.train is None) != (self.valid is None):
            raise ValueError("wanted both train and valid, or neither")
        return self


class LineTrainSettings(ImageTrainSettings):
    """Optimisation, validation, and what is kept."""

    watch: str = "exact"


class LineRecipe(Settings):
    """Everything that `saccade train` wants to know."""

    task: Literal["lines"]
    data: LineDataSettings = LineDataSettings()
    model: LineSettings
    train: LineTrainSettings = LineTrainSettings()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        expect_watched(self.train, FIGURES)
        if self.model.width != self.model.height * self.data.most:
            raise ValueError(
                f"model.width: found {self.model.width}, wanted {self.model.height * self.data.most}:"
                f" data.most digits of model.height pixels"
            )
        return self


class LineSplits(NamedTuple):
    """Lines to learn from and to validate with."""

    train: Lines
    valid: Lines

    def fingerprint(self) -> str:
        """A short text that other lines do not have."""
        digest = hashlib.sha256()
        for part in self:
            digest.update(part.pixels.tobytes())
            digest.update("\n".join(part.texts).encode())
        return digest.hexdigest()[:16]


def load_line_splits(
    settings: LineDataSettings, tell: Callable[[str], None] = lambda text: None, *, side: int
) -> LineSplits:
    """Make the lines, of digits of `side` x `side`; `tell` is told of images that cannot be read."""
    parts: list[Lines] = []
    for name, path, count in (("train", settings.train, settings.lines), ("valid", settings.valid, settings.hold_out)):
        seed = f"{name} {settings.seed}"
        digits = make_digits(_DIGITS, seed=seed, side=side) if path is None else _read(path, tell, side=side)
        parts.append(make_lines(count, digits, seed=seed, fewest=settings.fewest, most=settings.most))
    return LineSplits(*parts)


def _read(path: str, tell: Callable[[str], None], *, side: int) -> Labelled:
    digits, bad = read_labelled(Path(path), side=side)
    if bad:
        tell(f"{path}: {len(bad):,} of {len(bad) + len(digits.labels):,} images are left out; {bad[0]}")
    return digits


class LineBatch(NamedTuple):
    """Strips and what stands on them."""

    strips: Tensor  # [B, 1, H, W]
    targets: list[list[int]]  # END last


class LineTask(Task[LineBatch]):
    """Lines of digits, a reader, and how many lines it reads without a mistake."""

    unit = "lines"

    def __init__(self, recipe: LineRecipe, splits: LineSplits, run: Path, reporter: Reporter) -> None:
        self.recipe = recipe
        self.splits = splits
        vocabulary = learn_vocabulary(sorted({letter for text in splits.train.texts for letter in text}), CHARACTERS)
        torch.manual_seed(recipe.train.seed)
        self.reader = LineReader.make(LineReaderSettings(model=recipe.model), vocabulary)
        self.net = self.reader.net
        self._places = ShuffledPlaces(len(splits.train.texts), batch=recipe.train.batch, seed=recipe.train.seed)
        reporter.say(
            f"{len(splits.train.texts):,} lines to train on, {len(splits.valid.texts):,} for validation;"
            f" {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[LineBatch, Cursor]]:
        for places, after in self._places.stream(cursor):
            yield self._batch(self.splits.train, places), after

    def loss(self, batch: LineBatch) -> tuple[Tensor, int]:
        return self.reader.net.loss(*batch), len(batch.targets)

    def validate(self) -> dict[str, float]:
        """The loss of a line, and the percentage that is read without a mistake."""
        valid, total, right = self.splits.valid, 0.0, 0
        for first in range(0, len(valid.texts), _AT_ONCE):
            places = np.arange(first, min(first + _AT_ONCE, len(valid.texts)))
            total += self.reader.net.loss(*self._batch(valid, places)).item()
            found = self.reader.read_strips(valid.pixels[places])
            right += sum(line.text == valid.texts[place] for line, place in zip(found, places, strict=True))
        return {"loss": total / len(valid.texts), "exact": 100 * right / len(valid.texts)}

    def save_model(self, folder: Path) -> None:
        self.reader.save(folder)

    def _batch(self, lines: Lines, places: np.ndarray) -> LineBatch:
        targets = [self.reader.vocabulary.encode(lines.texts[place]).ids for place in places]
        return LineBatch(as_input(lines.pixels[places]), targets)
