"""The images that a classifier learns from: the user's, or made ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from saccade.base.errors import InputError
from saccade.base.fingerprint import fingerprint
from saccade.tasks.classification.public import PUBLIC
from saccade.tasks.classification.recipe import LabelledDataSettings
from saccade.tasks.public_set import brought_by
from saccade.vision import LabelledImages, make_digits, make_scenes, read_labelled
from saccade.vision.shapes import SHAPES


class LabelledSplits(NamedTuple):
    """Images to learn from and to validate with."""

    train: LabelledImages
    valid: LabelledImages
    bad: Sequence[str] = ()  # a line for each image that cannot be read

    def fingerprint(self) -> str:
        """A short text that other images do not have."""
        parts = (self.train, self.valid)
        return fingerprint(
            one for part in parts for one in (part.pixels.tobytes(), part.labels.tobytes(), *part.classes)
        )


def load_labelled_splits(settings: LabelledDataSettings, *, side: int) -> LabelledSplits:
    """Read or draw the images."""
    if settings.make is not None:
        make = make_digits if settings.make == "digits" else _shapes
        parts = (("train", settings.images), ("valid", settings.validation_size))
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
    held_out = min(settings.validation_size, max(len(order) // 10, 1))
    return LabelledSplits(train.select(order[held_out:]), train.select(order[:held_out]), bad)


def _read(name: str, side: int) -> tuple[LabelledImages, list[str]]:
    if not Path(name).exists():
        raise InputError(
            f"{name}: no such file or folder{brought_by(name, PUBLIC)}; say where yours are: data.train=DIR"
        )
    return read_labelled(Path(name), side=side)


def _shapes(count: int, *, seed: str, side: int) -> LabelledImages:
    """Scenes of one shape or two; the class is the first shape of the caption."""
    scenes = make_scenes(count, seed=seed, side=side)
    labels = [SHAPES.index(scene.caption.split()[scene.nouns[0].word]) for scene in scenes]
    return LabelledImages(np.stack([scene.pixels for scene in scenes]), np.array(labels), list(SHAPES))
