"""A trained classifier: images in, classes out; a CNN that sees all at once, or one that sees by glimpses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from saccade.data import Pixels, read_image
from saccade.data.images import Background, turned_to
from saccade.errors import InputError
from saccade.models.captioner import ImageSource
from saccade.models.evaluating import evaluating
from saccade.models.folder import load_model, read_settings, write_model
from saccade.models.search import expect
from saccade.models.seeing import scaled
from saccade.models.settings import BlockSettings, Share, Size
from saccade.nets import RecurrentAttention, SmallCnn, glimpse_loss
from saccade.settings import Settings


class CnnSettings(BlockSettings):
    """A small CNN, with self-attention between its blocks or without."""

    kind: Literal["cnn"]
    dropout: Share = 0.0


class GlimpseSettings(Settings):
    """The recurrent attention model (Mnih 2014), on images in grey."""

    kind: Literal["glimpses"]
    image_side: Annotated[int, Field(ge=8, le=512)] = 28  # images are made so large
    glimpses: Annotated[int, Field(ge=1, le=100)] = 6
    patch: Annotated[int, Field(ge=1, le=256)] = 8  # pixels of a side of a glimpse
    scales: Annotated[int, Field(ge=1, le=6)] = 1  # how many times it is seen, each time twice as wide
    dim: Size = 256
    std: Annotated[float, Field(gt=0, le=1)] = 0.15  # how far places are drawn from where they are meant to be


ClassModel = Annotated[CnnSettings | GlimpseSettings, Field(discriminator="kind")]


class ClassifierSettings(Settings):
    """A model's config.yaml."""

    task: Literal["classification"] = "classification"
    model: ClassModel
    classes: Annotated[list[str], Field(min_length=2)]
    background: Background | None = None  # of all images that were learnt from, if they are grey and have one


class CnnNet(nn.Module):
    """Images `[B, 3, H, W]` to logits `[B, K]`: blocks, the mean over all places, one linear map."""

    def __init__(self, settings: CnnSettings, classes: int) -> None:
        super().__init__()
        self.blocks = SmallCnn(settings.channels, attend_after=settings.attend_after)
        self.dropout = nn.Dropout(settings.dropout)
        self.classes = nn.Linear(settings.channels[-1], classes)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor | None]:
        return self.classes(self.dropout(self.blocks(images).mean((-2, -1)))), None

    def loss(self, images: Tensor, labels: Tensor, *, smoothing: float) -> Tensor:
        """Summed over the batch."""
        return F.cross_entropy(self(images)[0], labels, reduction="sum", label_smoothing=smoothing)


class GlimpseNet(nn.Module):
    """Images `[B, 3, H, W]` to logits `[B, K]` and the places that were looked at, `[B, N, 2]`."""

    def __init__(self, settings: GlimpseSettings, classes: int) -> None:
        super().__init__()
        self.looker = RecurrentAttention(
            classes=classes,
            glimpses=settings.glimpses,
            patch=settings.patch,
            scales=settings.scales,
            dim=settings.dim,
            std=settings.std,
        )

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor | None]:
        glimpsed = self.looker(in_grey(images))
        return glimpsed.logits, glimpsed.places

    def loss(self, images: Tensor, labels: Tensor, *, smoothing: float) -> Tensor:
        """Summed over the batch."""
        return glimpse_loss(self.looker(in_grey(images)), labels, smoothing=smoothing)


def in_grey(images: Tensor) -> Tensor:
    """`[B, 3, H, W]` -> `[B, 1, H, W]`, from 0 for black, which is also what lies outside, to 2 for white."""
    return images.mean(1, keepdim=True) + 127 / 128


@dataclass(frozen=True)
class Classified:
    """What an image is."""

    label: str
    probability: float
    ranking: list[tuple[str, float]]  # all classes, the likeliest first
    path: NDArray[np.float32] | None = None  # [glimpses, 2], where each was: x and y from -1 to 1


class Classifier:
    """A net with the names of its classes. `saccade.load(folder)` gives one."""

    def __init__(self, net: CnnNet | GlimpseNet, settings: ClassifierSettings) -> None:
        self.net = net
        self.settings = settings

    @classmethod
    def make(cls, settings: ClassifierSettings) -> "Classifier":
        """A classifier that has learnt nothing yet; its weights come from torch's random numbers."""
        model, count = settings.model, len(settings.classes)
        return cls(CnnNet(model, count) if isinstance(model, CnnSettings) else GlimpseNet(model, count), settings)

    @classmethod
    def load(cls, folder: Path) -> "Classifier":
        """The classifier of a model's folder."""
        settings = read_settings(ClassifierSettings, folder)
        return load_model(lambda: cls.make(settings), folder)

    def save(self, folder: Path) -> None:
        """Write the model's folder; the weights last, so that a folder that has them is whole."""
        write_model(folder, self.settings, self.net)

    def classify(
        self,
        images: Sequence[ImageSource],
        *,
        batch: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[Classified]:
        """Say what each image is: files, or their bytes."""
        if isinstance(images, str | bytes | Path):
            raise InputError("images: found one image, wanted a list of them; write [image]")
        expect("batch", batch, batch >= 1, "at least 1")
        results: list[Classified] = []
        for first in range(0, len(images), batch):
            part = images[first : first + batch]
            pixels = [self.read(one, f"image {number}") for number, one in enumerate(part, start=first + 1)]
            results.extend(self.classify_pixels(pixels))
            if progress is not None:
                progress(len(part))
        return results

    def read(self, image: ImageSource, name: str) -> Pixels:
        """An image at the size that the net wants; one that cannot be read is an `InputError` with its name."""
        source = image if isinstance(image, bytes) else Path(image)
        return read_image(source, side=self.settings.model.image_side, name=name if isinstance(image, bytes) else None)

    def turned(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Images `[N, H, W, 3]`, on the background that the net knows: black for white where it is the other one."""
        return turned_to(self.settings.background, pixels)

    def classify_pixels(self, pixels: Sequence[Pixels]) -> list[Classified]:
        """The same for images as `read` gives them."""
        with evaluating(self.net):
            logits, places = self.net(scaled(self.turned(np.stack(pixels))))
            shares = torch.softmax(logits, dim=-1)
        results: list[Classified] = []
        for row in range(len(pixels)):
            order = shares[row].argsort(descending=True).tolist()
            ranking = [(self.settings.classes[place], float(shares[row, place])) for place in order]
            results.append(Classified(*ranking[0], ranking, None if places is None else places[row].numpy()))
        return results
