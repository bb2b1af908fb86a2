"""Images to classes as one net: a CNN or fully connected layers that see all at once, or one that sees by glimpses."""

from itertools import pairwise
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from saccade.nets import RecurrentAttention, SmallCnn, glimpse_loss
from saccade.tasks.classification.settings import ClassModel, CnnSettings, GlimpseSettings, MlpSettings


class ClassOutput(NamedTuple):
    """What such a net gives."""

    logits: Tensor  # [B, K]
    locations: Tensor | None = None  # [B, N, 2], where the glimpses were
    weights: dict[int, Tensor] = {}  # noqa: RUF012 - never changed; [B, h w, h w], of self-attention after a block


class CnnNet(nn.Module):
    """Images `[B, 3, H, W]` to logits `[B, K]`: blocks, the mean over all positions, one linear map."""

    def __init__(self, settings: CnnSettings, classes: int) -> None:
        super().__init__()
        self.blocks = SmallCnn(
            settings.channels, attend_after=settings.attend_after, downsampling=settings.downsampling
        )
        self.mean = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(settings.dropout)
        self.classes = nn.Linear(settings.channels[-1], classes)

    def forward(self, images: Tensor, *, need_weights: bool = False) -> ClassOutput:
        features, weights = self.blocks.features(images, need_weights=need_weights)
        return ClassOutput(self.classes(self.dropout(self.mean(features).flatten(1))), weights=weights)

    def loss(self, images: Tensor, labels: Tensor, *, smoothing: float) -> Tensor:
        """Summed over the batch."""
        return _cross_entropy(self(images), labels, smoothing=smoothing)


class MlpNet(nn.Module):
    """The same by fully connected layers over all pixels, which know nothing of what is beside what: a baseline."""

    def __init__(self, settings: MlpSettings, classes: int) -> None:
        super().__init__()
        sizes = [3 * settings.image_size**2, *settings.hidden]
        layers = [
            layer
            for size, out in pairwise(sizes)
            for layer in (nn.Linear(size, out), nn.ReLU(), nn.Dropout(settings.dropout))
        ]
        self.layers = nn.Sequential(nn.Flatten(), *layers)
        self.classes = nn.Linear(sizes[-1], classes)

    def forward(self, images: Tensor, *, need_weights: bool = False) -> ClassOutput:
        return ClassOutput(self.classes(self.layers(images)))

    def loss(self, images: Tensor, labels: Tensor, *, smoothing: float) -> Tensor:
        """Summed over the batch."""
        return _cross_entropy(self(images), labels, smoothing=smoothing)


class GlimpseNet(nn.Module):
    """Images `[B, 3, H, W]` to logits `[B, K]` and the locations that were looked at, `[B, N, 2]`."""

    def __init__(self, settings: GlimpseSettings, classes: int) -> None:
        super().__init__()
        self.looker = RecurrentAttention(
            classes=classes,
            glimpses=settings.glimpses,
            patch_size=settings.patch_size,
            scales=settings.scales,
            dim=settings.dim,
            location_std=settings.location_std,
        )

    def forward(self, images: Tensor, *, need_weights: bool = False) -> ClassOutput:
        output = self.looker(in_grey(images))
        return ClassOutput(output.logits, output.locations)

    def loss(self, images: Tensor, labels: Tensor, *, smoothing: float) -> Tensor:
        """Summed over the batch."""
        return glimpse_loss(self.looker(in_grey(images)), labels, smoothing=smoothing)


ClassNet = CnnNet | MlpNet | GlimpseNet


def make_class_net(settings: ClassModel, classes: int) -> ClassNet:
    """The net that the settings describe, for so many classes."""
    match settings:
        case CnnSettings():
            return CnnNet(settings, classes)
        case MlpSettings():
            return MlpNet(settings, classes)
        case GlimpseSettings():
            return GlimpseNet(settings, classes)


def _cross_entropy(output: ClassOutput, labels: Tensor, *, smoothing: float) -> Tensor:
    return F.cross_entropy(output.logits, labels, reduction="sum", label_smoothing=smoothing)


def in_grey(images: Tensor) -> Tensor:
    """`[B, 3, H, W]` -> `[B, 1, H, W]`, from 0 for black, which is also what lies outside, to 2 for white."""
    return images.mean(1, keepdim=True) + 127 / 128
