"""Classification of images as a task of the training loop."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor

from saccade.data import Cursor, Labelled, ShuffledPlaces, make_digits, make_scenes, read_labelled
from saccade.data.images import common_background
from saccade.data.shapes import SHAPES
from saccade.errors import InputError
from saccade.models import Classifier, ClassifierSettings, ClassModel, scaled
from saccade.settings import DataPath, Settings
from saccade.tasks.common import count_parameters, expect_watched
from saccade.train import ImageTrainSettings, Reporter, Task

FIGURES = ("accuracy", "loss")  # what validation gives
_AT_ONCE = 256  # images of validation


class LabelledDataSettings(Settings):
    """What is learnt from."""

    train: DataPath | None = None  # a folder with one of images for each class, or MNIST's images (*images-idx3-ubyte*)
    valid: DataPath | None = None  # the same; without it, hold_out images are kept aside
    make: Literal["shapes", "digits"] | None = None  # in place of train: images that the package draws
    images: Annotated[int, Field(ge=10, le=1_000_000)] = 8000  # of made ones
    seed: int = 0  # of made images, and of what is held out
    hold_out: Annotated[int, Field(ge=1)] = 1000  # images for validation, where valid is not given
    move: Annotated[int, Field(ge=0, le=64)] = 0  # in training, images are moved by up to so many pixels
    mirror: bool = False  # and every other one is mirrored

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.train is None) == (self.make is None):
            raise ValueError(
                "wanted either train, such as data.train=photos data.make=null, or make, such as data.make=shapes"
            )
        return self


class ClassificationRecipe(Settings):
    """Everything that `saccade train` wants to know."""

    task: Literal["classification"]
    data: LabelledDataSettings
    model: ClassModel
    train: ImageTrainSettings = ImageTrainSettings()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        expect_watched(self.train, FIGURES)
        return self


class LabelledSplits(NamedTuple):
    """Images to learn from and to validate with."""

    train: Labelled
    valid: Labelled
    bad: list[str]  # a line for each image that cannot be read

    def fingerprint(self) -> str:
        """A short text that other images do not have."""
        digest = hashlib.sha256()
        for part in (self.train, self.valid):
            digest.update(part.pixels.tobytes())
            digest.update(part.labels.tobytes())
            digest.update("\n".join(part.classes).encode(errors="surrogateescape"))
        return digest.hexdigest()[:16]


def load_labelled_splits(settings: LabelledDataSettings, *, side: int) -> LabelledSplits:
    """Read or draw the images."""
    if settings.make is not None:
        make = make_digits if settings.make == "digits" else _shapes
        parts = (("train", settings.images), ("valid", settings.hold_out))
        train, valid = (make(count, seed=f"{name} {settings.seed}", side=side) for name, count in parts)
        return LabelledSplits(train, valid, [])
    assert settings.train is not None
    train, bad = _read(settings.train, side)
    if settings.valid is not None:
        valid, bad_too = _read(settings.valid, side)
        if valid.classes != train.classes:
            raise InputError(
                f"{settings.valid} has other classes than {settings.train}; wanted the same folders in both"
            )
        return LabelledSplits(train, valid, bad + bad_too)
    if len(train.labels) < 2:
        raise InputError(f"{settings.train}: one image is too few to train and to validate; give data.valid")
    order = np.random.default_rng(settings.seed).permutation(len(train.labels))
    held_out = min(settings.hold_out, max(len(order) // 10, 1))
    return LabelledSplits(train.select(order[held_out:]), train.select(order[:held_out]), bad)


def _read(name: str, side: int) -> tuple[Labelled, list[str]]:
    if not Path(name).exists():
        raise InputError(f"{name}: no such file or folder; say where yours are: data.train=DIR")
    return read_labelled(Path(name), side=side)


def _shapes(count: int, *, seed: str, side: int) -> Labelled:
    """Scenes of one shape or two; the class is the first shape of the caption."""
    scenes = make_scenes(count, seed=seed, side=side)
    labels = [SHAPES.index(scene.caption.split()[scene.nouns[0].word]) for scene in scenes]
    return Labelled(np.stack([scene.pixels for scene in scenes]), np.array(labels), list(SHAPES))


class LabelledBatch(NamedTuple):
    """Images and what they are."""

    images: Tensor  # [B, 3, H, W]
    labels: Tensor  # [B]


class ClassificationTask(Task[LabelledBatch]):
    """Images with classes, a classifier, and how often it is right."""

    unit = "images"

    def __init__(self, recipe: ClassificationRecipe, splits: LabelledSplits, run: Path, reporter: Reporter) -> None:
        self.recipe = recipe
        self.splits = splits
        torch.manual_seed(recipe.train.seed)
        background = common_background(splits.train.pixels)
        settings = ClassifierSettings(model=recipe.model, classes=splits.train.classes, background=background)
        self.classifier = Classifier.make(settings)
        self.net = self.classifier.net
        self._places = ShuffledPlaces(len(splits.train.labels), batch=recipe.train.batch, seed=recipe.train.seed)
        if splits.bad:
            reporter.say(f"{len(splits.bad):,} images cannot be read and are left out; {splits.bad[0]}")
        reporter.say(
            f"{len(splits.train.labels):,} images to train on, {len(splits.valid.labels):,} for validation;"
            f" {len(splits.train.classes)} classes; {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[LabelledBatch, Cursor]]:
        for places, after in self._places.stream(cursor):
            yield self._batch(self.splits.train, places), after

    def loss(self, batch: LabelledBatch) -> tuple[Tensor, int]:
        images = moved(batch.images, self.recipe.data.move, mirror=self.recipe.data.mirror)
        smoothing = self.recipe.train.label_smoothing
        return self.classifier.net.loss(images, batch.labels, smoothing=smoothing), len(batch.labels)

    def validate(self) -> dict[str, float]:
        """The cross entropy of an image, and the percentage that is right."""
        valid, total, right = self.splits.valid, 0.0, 0
        for first in range(0, len(valid.labels), _AT_ONCE):
            places = np.arange(first, min(first + _AT_ONCE, len(valid.labels)))
            batch = self._batch(valid, places)
            logits, _ = self.classifier.net(batch.images)
            total += torch.nn.functional.cross_entropy(logits, batch.labels, reduction="sum").item()
            right += int((logits.argmax(-1) == batch.labels).sum())
        return {"loss": total / len(valid.labels), "accuracy": 100 * right / len(valid.labels)}

    def save_model(self, folder: Path) -> None:
        self.classifier.save(folder)

    def _batch(self, images: Labelled, places: np.ndarray) -> LabelledBatch:
        pixels = self.classifier.turned(images.pixels[places])
        return LabelledBatch(scaled(pixels), torch.from_numpy(images.labels[places]))


def moved(images: Tensor, most: int, *, mirror: bool) -> Tensor:
    """Images `[B, C, H, W]`, each moved by up to `most` pixels each way, and every other one mirrored, by chance.

    What comes in at the edge is what was at the edge.
    """
    count, _, high, wide = images.shape
    if most:
        padded = torch.nn.functional.pad(images, (most,) * 4, mode="replicate")
        shift = torch.randint(0, 2 * most + 1, (2, count, 1))
        rows = torch.arange(high) + shift[0]  # [B, H]
        columns = torch.arange(wide) + shift[1]  # [B, W]
        images = padded[torch.arange(count)[:, None, None], :, rows[:, :, None], columns[:, None, :]]  # [B, H, W, C]
        images = images.permute(0, 3, 1, 2)
    if mirror:
        flip = torch.rand(count) < 0.5
        images = torch.where(flip[:, None, None, None], images.flip(-1), images)
    return images
