"""`saccade look` of a classifier that sees by glimpses: where they were, one after the other."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saccade.base.errors import InputError
from saccade.console.drawing import Drawing
from saccade.console.inputs import one_image
from saccade.look import save_path
from saccade.tasks.classification.model import Classifier
from saccade.tasks.classification.result import ClassifierOutput
from saccade.tasks.classification.settings import GlimpseSettings
from saccade.tasks.kind import Look
from saccade.vision import picture_for_pages


@dataclass(frozen=True)
class Glimpses(Drawing):
    """The path of the glimpses over an image."""

    image: Path
    found: ClassifierOutput
    size: float  # of a glimpse, as a share of the image's side

    def figure(self, path: Path) -> None:
        assert self.found.path is not None
        save_path(path, picture_for_pages(self.image), self.found.path, size=self.size, title=self.found.label)

    def show(self) -> None:
        assert self.found.path is not None
        print(f"{self.found.label} {self.found.probability:.3f}")
        for number, (x, y) in enumerate(self.found.path.tolist(), start=1):
            print(f"glimpse {number}: x {x:+.2f}, y {y:+.2f}")

    def as_json(self) -> dict[str, Any]:
        return {"image": str(self.image)} | self.found.as_json()


def look_at_glimpses(chosen: argparse.Namespace, classifier: Classifier) -> Glimpses:
    """Classify an image."""
    image = one_image(chosen.inputs)
    expect_glimpses(classifier)
    found = classifier.classify([image])[0]
    return glimpses_of(image, found, classifier)


def glimpses_of(image: Path, found: ClassifierOutput, classifier: Classifier) -> Glimpses:
    """What there is to draw of an answer."""
    model = expect_glimpses(classifier)
    return Glimpses(image, found, model.patch_size / model.image_size)


def expect_glimpses(classifier: Classifier) -> GlimpseSettings:
    """Raise unless the classifier sees by glimpses; gives its settings."""
    model = classifier.settings.model
    if model.kind != "glimpses":
        raise InputError("this model sees everything at once; only one that sees by glimpses has a path to look at")
    return model


LOOK = Look("an image", look_at_glimpses)
