"""A trained classifier: images in, classes out; a CNN that sees all at once, or one that sees by glimpses."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from saccade.look import AttentionMap
from saccade.tasks.batches import in_batches
from saccade.tasks.classification.net import CnnNet, GlimpseNet
from saccade.tasks.classification.result import ClassifierOutput
from saccade.tasks.classification.settings import ClassifierSettings, CnnSettings
from saccade.tasks.model import Model
from saccade.vision import ImageSource, Pixels, image_name, match_background, named_images, read_image, scaled


class Classifier(Model[ClassifierSettings, CnnNet | GlimpseNet]):
    """A net with the names of its classes. `saccade.load(folder)` gives one."""

    config = ClassifierSettings

    def __init__(self, net: CnnNet | GlimpseNet, settings: ClassifierSettings) -> None:
        self.net = net
        self.settings = settings

    @classmethod
    def make(cls, settings: ClassifierSettings) -> Self:
        """A classifier that has learnt nothing yet; its weights come from torch's random numbers."""
        model, count = settings.model, len(settings.classes)
        return cls(CnnNet(model, count) if isinstance(model, CnnSettings) else GlimpseNet(model, count), settings)

    @classmethod
    def maker(cls, settings: ClassifierSettings, folder: Path) -> Callable[[], Self]:
        return lambda: cls.make(settings)

    def maps(self, result: ClassifierOutput) -> list[AttentionMap]:
        """None: a classifier has no weights over its image, but a path of glimpses, or nothing."""
        return []

    def classify(
        self,
        images: Sequence[ImageSource],
        *,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[ClassifierOutput]:
        """Say what each image is: files, or their bytes."""

        def classes(part: Sequence[tuple[str, ImageSource]]) -> list[ClassifierOutput]:
            return self.classify_pixels([self.preprocess(image, name) for name, image in part])

        return in_batches(classes, named_images(images), batch_size=batch_size, progress=progress)

    def preprocess(self, image: ImageSource, name: str) -> Pixels:
        """An image at the size that the net wants; one that cannot be read is an `InputError` with its name."""
        return read_image(image, side=self.settings.model.image_size, name=image_name(image, name))

    def match_background(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Images `[N, H, W, 3]`, on the background that the net knows: black for white where it is the other one."""
        return match_background(self.settings.background, pixels)

    def classify_pixels(self, pixels: Sequence[Pixels]) -> list[ClassifierOutput]:
        """The same for images as `preprocess` gives them."""
        with self.running():
            logits, locations = self.net(scaled(self.match_background(np.stack(pixels))))
            shares = torch.softmax(logits, dim=-1)
        results: list[ClassifierOutput] = []
        for row in range(len(pixels)):
            order = shares[row].argsort(descending=True).tolist()
            ranking = [(self.settings.classes[label], float(shares[row, label])) for label in order]
            results.append(
                ClassifierOutput(*ranking[0], ranking, None if locations is None else locations[row].numpy())
            )
        return results
