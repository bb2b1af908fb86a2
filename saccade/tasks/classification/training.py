"""Classification of images as a task of the training loop."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from saccade.base.counts import counted
from saccade.base.shuffling import Cursor, ShuffledIndices
from saccade.tasks.classification.data import LabelledSplits
from saccade.tasks.classification.model import Classifier
from saccade.tasks.classification.recipe import ClassificationRecipe
from saccade.tasks.classification.settings import ClassifierSettings
from saccade.training import Reporter, Task, count_parameters
from saccade.vision import LabelledImages, common_background, scaled

_AT_ONCE = 256  # images of validation


class LabelledBatch(NamedTuple):
    """Images and what they are."""

    images: Tensor  # [B, 3, H, W]
    labels: Tensor  # [B]


class ClassificationTask(Task[LabelledBatch, Classifier]):
    """Images with classes, a classifier, and how often it is right."""

    unit = "images"

    def __init__(self, recipe: ClassificationRecipe, splits: LabelledSplits, run: Path, reporter: Reporter) -> None:
        self.recipe = recipe
        self.splits = splits
        torch.manual_seed(recipe.train.seed)
        background = common_background(splits.train.pixels)
        settings = ClassifierSettings(model=recipe.model, classes=splits.train.classes, background=background)
        self.model = Classifier.make(settings)
        self._indices = ShuffledIndices(
            len(splits.train.labels), batch_size=recipe.train.batch_size, seed=recipe.train.seed
        )
        if splits.bad:
            reporter.say(f"{len(splits.bad):,} images cannot be read and are left out; {splits.bad[0]}")
        reporter.say(
            f"{counted(len(splits.train.labels), 'image')} to train on, {len(splits.valid.labels):,} for validation;"
            f" {len(splits.train.classes)} classes; {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[LabelledBatch, Cursor]]:
        for indices, after in self._indices.stream(cursor):
            yield self._batch(self.splits.train, indices), after

    def loss(self, batch: LabelledBatch) -> tuple[Tensor, int]:
        images = augmented(
            batch.images, random_shift=self.recipe.data.random_shift, horizontal_flip=self.recipe.data.horizontal_flip
        )
        smoothing = self.recipe.train.label_smoothing
        return self.model.net.loss(images, batch.labels, smoothing=smoothing), len(batch.labels)

    def validate(self) -> dict[str, float]:
        """The cross entropy of an image, and the percentage that is right."""
        valid, total, right = self.splits.valid, 0.0, 0
        for first in range(0, len(valid.labels), _AT_ONCE):
            indices = np.arange(first, min(first + _AT_ONCE, len(valid.labels)))
            batch = self._batch(valid, indices)
            logits = self.model.net(batch.images).logits
            total += torch.nn.functional.cross_entropy(logits, batch.labels, reduction="sum").item()
            right += int((logits.argmax(-1) == batch.labels).sum())
        return {"loss": total / len(valid.labels), "accuracy": 100 * right / len(valid.labels)}

    def _batch(self, images: LabelledImages, indices: np.ndarray) -> LabelledBatch:
        pixels = self.model.match_background(images.pixels[indices])
        return LabelledBatch(scaled(pixels), torch.from_numpy(images.labels[indices]))


def augmented(images: Tensor, *, random_shift: int, horizontal_flip: bool) -> Tensor:
    """Images `[B, C, H, W]`, each moved by up to `random_shift` pixels each way, and every other one mirrored.

    What comes in at the edge is what was at the edge.
    """
    count, _, high, wide = images.shape
    if random_shift:
        padded = torch.nn.functional.pad(images, (random_shift,) * 4, mode="replicate")
        shift = torch.randint(0, 2 * random_shift + 1, (2, count, 1))
        rows = torch.arange(high) + shift[0]  # [B, H]
        columns = torch.arange(wide) + shift[1]  # [B, W]
        images = padded[torch.arange(count)[:, None, None], :, rows[:, :, None], columns[:, None, :]]  # [B, H, W, C]
        images = images.permute(0, 3, 1, 2)
    if horizontal_flip:
        flip = torch.rand(count) < 0.5
        images = torch.where(flip[:, None, None, None], images.flip(-1), images)
    return images
