"""Images to classes as one net: a CNN that sees all at once, or one that sees by glimpses."""

import torch.nn.functional as F
from torch import Tensor, nn

from saccade.nets import RecurrentAttention, SmallCnn, glimpse_loss
from saccade.tasks.classification.settings import CnnSettings, GlimpseSettings


class CnnNet(nn.Module):
    """Images `[B, 3, H, W]` to logits `[B, K]`: blocks, the mean over all positions, one linear map."""

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

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor | None]:
        output = self.looker(in_grey(images))
        return output.logits, output.locations

    def loss(self, images: Tensor, labels: Tensor, *, smoothing: float) -> Tensor:
        """Summed over the batch."""
        return glimpse_loss(self.looker(in_grey(images)), labels, smoothing=smoothing)


def in_grey(images: Tensor) -> Tensor:
    """`[B, 3, H, W]` -> `[B, 1, H, W]`, from 0 for black, which is also what lies outside, to 2 for white."""
    return images.mean(1, keepdim=True) + 127 / 128
