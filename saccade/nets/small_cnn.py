"""A small CNN of plain blocks, for those who train from nothing.

Letters: `B` batch, `C` channels, `H` height, `W` width.
"""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from saccade.attention import SelfAttention2d
from saccade.nets.convolution import output_size

_KERNEL, _PADDING, _POOL = 3, 1, 2

Downsampling = Literal["max", "average", "stride"]
_POOLINGS = {"max": nn.MaxPool2d, "average": nn.AvgPool2d}


class PlainBlock(nn.Module):
    """Convolution, batch norm, ReLU, and what halves both sides: `[B, C, H, W]` -> `[B, out, H/2, W/2]`.

    downsampling  `max` or `average`: a pooling of 2 × 2, by which an odd side loses its last row; `stride`: the
                  convolution is moved by two at a time, by which an odd side is rounded up
    """

    def __init__(self, channels: int, out: int, *, downsampling: Downsampling = "max") -> None:
        super().__init__()
        stride = _stride(downsampling)
        self.convolution = nn.Conv2d(channels, out, _KERNEL, stride=stride, padding=_PADDING, bias=False)
        self.norm = nn.BatchNorm2d(out)
        self.activation = nn.ReLU(inplace=True)
        self.pool = nn.Identity() if downsampling == "stride" else _POOLINGS[downsampling](_POOL)

    def forward(self, x: Tensor) -> Tensor:
        return self.pool(self.activation(self.norm(self.convolution(x))))


class SmallCnn(nn.Module):
    """Plain blocks one after the other, `[B, 3, H, W]` -> `[B, C, h, w]`, with `SelfAttention2d` between them.

    channels      of each block
    attend_after  after which blocks self-attention stands, counted from 1
    downsampling  how each block halves the sides
    """

    def __init__(
        self, channels: Sequence[int], *, attend_after: Sequence[int] = (), downsampling: Downsampling = "max"
    ) -> None:
        super().__init__()
        sizes = zip((3, *channels[:-1]), channels, strict=True)
        self.blocks = nn.ModuleList(PlainBlock(before, out, downsampling=downsampling) for before, out in sizes)
        self.attentions = nn.ModuleDict({str(number): SelfAttention2d(channels[number - 1]) for number in attend_after})

    def forward(self, images: Tensor) -> Tensor:
        return self.features(images)[0]

    def features(self, images: Tensor, *, need_weights: bool = False) -> tuple[Tensor, dict[int, Tensor]]:
        """The same, and the weights `[B, h w, h w]` of each self-attention, by the block that it stands after."""
        weights: dict[int, Tensor] = {}
        x = images
        for number, block in enumerate(self.blocks, start=1):
            x = block(x)
            if str(number) in self.attentions:
                x, found = self.attentions[str(number)](x, need_weights=need_weights)[:2]
                if found is not None:
                    weights[number] = found
        return x, weights


def small_cnn_side(side: int, blocks: int, *, downsampling: Downsampling = "max") -> int:
    """How many positions a side of the feature map has, for images of that side."""
    for _ in range(blocks):
        side = output_size(side, kernel=_KERNEL, padding=_PADDING, stride=_stride(downsampling))
        if downsampling != "stride":
            side = output_size(side, kernel=_POOL, stride=_POOL)
    return side


def _stride(downsampling: Downsampling) -> int:
    return 2 if downsampling == "stride" else 1
