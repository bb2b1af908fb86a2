"""A trained classifier: images in, classes out; a net that sees all at once, or one that sees by glimpses."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.look import AttentionMap, Grid
from saccade.nets.layers import Layer, layers_of
from saccade.tasks.batches import in_batches
from saccade.tasks.classification.net import ClassNet, make_class_net
from saccade.tasks.classification.result import ClassifierOutput
from saccade.tasks.classification.settings import ClassifierSettings
from saccade.tasks.model import Model
from saccade.tasks.output import expect_output
from saccade.vision import (
    ImageSource,
    Pixels,
    image_name,
    match_background,
    named_images,
    picture_for_pages,
    read_image,
    scaled,
)


class Classifier(Model[ClassifierSettings, ClassNet]):
    """A net with the names of its classes. `saccade.load(folder)` gives one."""

    config = ClassifierSettings

    def __init__(self, net: ClassNet, settings: ClassifierSettings) -> None:
        self.net = net
        self.settings = settings

    @classmethod
    def make(cls, settings: ClassifierSettings) -> Self:
        """A classifier that has learnt nothing yet; its weights come from torch's random numbers."""
        return cls(make_class_net(settings.model, len(settings.classes)), settings)

    @classmethod
    def maker(cls, settings: ClassifierSettings, folder: Path) -> Callable[[], Self]:
        return lambda: cls.make(settings)

    def maps(self, result: ClassifierOutput, *, image: ImageSource | None = None, name: str = "") -> list[AttentionMap]:
        """What each place of the image looked at, of a CNN with self-attention, made with `attention=True`.

        With `image` the pictures show it. The net sees all of an image as a square, and so do they.
        """
        expect_output(result, ClassifierOutput)
        if result.attention is None:
            raise InputError(
                "the result has no attention; classify with attention=True, by a CNN with self-attention"
                " (model.attend_after)"
            )
        side = math.isqrt(result.attention.shape[-1])
        grid = Grid(side, side, None if image is None else picture_for_pages(image))
        return [AttentionMap(grid.labels(), grid, result.attention, "encoder", name)]

    def layers(self) -> list[Layer]:
        """What each layer gives for an image, how large, and how many numbers it learns."""
        side = self.settings.model.image_size
        return layers_of(self.net, torch.zeros(1, 3, side, side))

    def classify(
        self,
        images: Sequence[ImageSource],
        *,
        attention: bool = False,
        block: int | None = None,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[ClassifierOutput]:
        """Say what each image is: files, or their bytes.

        attention  say what each place looked at, of a CNN with self-attention
        block      after which block, counted from 1; None: after the last that has it
        """

        def classes(part: Sequence[tuple[str, ImageSource]]) -> list[ClassifierOutput]:
            return self.classify_pixels(
                [self.preprocess(image, name) for name, image in part], attention=attention, block=block
            )

        return in_batches(classes, named_images(images), batch_size=batch_size, progress=progress)

    def preprocess(self, image: ImageSource, name: str) -> Pixels:
        """An image at the size that the net wants; one that cannot be read is an `InputError` with its name."""
        return read_image(image, side=self.settings.model.image_size, name=image_name(image, name))

    def match_background(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Images `[N, H, W, 3]`, on the background that the net knows: black for white where it is the other one."""
        return match_background(self.settings.background, pixels)

    def classify_pixels(
        self, pixels: Sequence[Pixels], *, attention: bool = False, block: int | None = None
    ) -> list[ClassifierOutput]:
        """The same for images as `preprocess` gives them."""
        with self.running():
            output = self.net(scaled(self.match_background(np.stack(pixels))), need_weights=attention)
            shares = torch.softmax(output.logits, dim=-1)
        block = max(output.weights, default=None) if block is None else block
        if output.weights and block not in output.weights:
            there = ", ".join(map(str, output.weights))
            raise InputError(f"block: found {block}, wanted a block that self-attention stands after: {there}")
        results: list[ClassifierOutput] = []
        for row in range(len(pixels)):
            order = shares[row].argsort(descending=True).tolist()
            ranking = [(self.settings.classes[label], float(shares[row, label])) for label in order]
            path = None if output.locations is None else output.locations[row].numpy()
            seen = None if block is None or not output.weights else output.weights[block][row][None, None]
            results.append(ClassifierOutput(*ranking[0], ranking, path, None if seen is None else seen.float().numpy()))
        return results
