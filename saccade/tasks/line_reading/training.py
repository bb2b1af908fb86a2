"""Reading lines of digits as a task of the training loop."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from saccade.base.counts import counted
from saccade.base.shuffling import Cursor, ShuffledIndices
from saccade.tasks.line_reading.data import LineSplits
from saccade.tasks.line_reading.lines import Lines
from saccade.tasks.line_reading.model import LineReader, as_input
from saccade.tasks.line_reading.recipe import LineRecipe
from saccade.tasks.line_reading.settings import CHARACTERS, LineReaderSettings
from saccade.text import learn_vocabulary
from saccade.training import Reporter, Task, count_parameters

_AT_ONCE = 128  # strips of validation


class LineBatch(NamedTuple):
    """Strips and what stands on them."""

    strips: Tensor  # [B, 1, H, W]
    targets: list[list[int]]  # END last


class LineTask(Task[LineBatch, LineReader]):
    """Lines of digits, a reader, and how many lines it reads without a mistake."""

    unit = "lines"

    def __init__(self, recipe: LineRecipe, splits: LineSplits, run: Path, reporter: Reporter) -> None:
        self.recipe = recipe
        self.splits = splits
        vocabulary = learn_vocabulary(sorted({letter for text in splits.train.texts for letter in text}), CHARACTERS)
        torch.manual_seed(recipe.train.seed)
        self.model = LineReader.make(LineReaderSettings(model=recipe.model), vocabulary)
        self._indices = ShuffledIndices(
            len(splits.train.texts), batch_size=recipe.train.batch_size, seed=recipe.train.seed
        )
        reporter.say(
            f"{counted(len(splits.train.texts), 'line')} to train on, {len(splits.valid.texts):,} for validation;"
            f" {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[LineBatch, Cursor]]:
        for indices, after in self._indices.stream(cursor):
            yield self._batch(self.splits.train, indices), after

    def loss(self, batch: LineBatch) -> tuple[Tensor, int]:
        return self.model.net.loss(*batch), len(batch.targets)

    def validate(self) -> dict[str, float]:
        """The loss of a line, and the percentage that is read without a mistake."""
        valid, total, right = self.splits.valid, 0.0, 0
        for first in range(0, len(valid.texts), _AT_ONCE):
            indices = np.arange(first, min(first + _AT_ONCE, len(valid.texts)))
            total += self.model.net.loss(*self._batch(valid, indices)).item()
            found = self.model.read_strips(valid.pixels[indices])
            right += sum(line.text == valid.texts[index] for line, index in zip(found, indices, strict=True))
        return {"loss": total / len(valid.texts), "exact_match": 100 * right / len(valid.texts)}

    def _batch(self, lines: Lines, indices: np.ndarray) -> LineBatch:
        targets = [self.model.vocabulary.encode(lines.texts[index]).ids for index in indices]
        return LineBatch(as_input(lines.pixels[indices]), targets)
