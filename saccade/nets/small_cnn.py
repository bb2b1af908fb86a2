"""A small CNN of plain blocks, for those who train from nothing.

Letters: `B` batch, `C` channels, `H` height, `W` width.
"""

from collections.abc import Sequence

from torch import Tensor, nn

from saccade.attention import SelfAttention2d
from saccade.nets.convolution import output_size

_KERNEL, _PADDING, _POOL = 3, 1, 2


class PlainBlock(nn.Module):
    """Convolution, batch norm, ReLU, and a pooling that halves both sides: `[B, C, H, W]` -> `[B, out, H/2, W/2]`."""

    def __init__(self, channels: int, out: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(channels, out, _KERNEL, padding=_PADDING, bias=False)
        self.norm = nn.BatchNorm2d(out)
        self.activation = nn.ReLU(inplace=True)
        self.pool = nn.MaxPool2d(_POOL)

    def forward(self, x: Tensor) -> Tensor:
        return self.pool(self.activation(self.norm(self.convolution(x))))


class SmallCnn(nn.Module):
    """Plain blocks one after the other, `[B, 3, H, W]` -> `[B, C, h, w]`, with `SelfAttention2d` between them.

    channels      of each block
    attend_after  after which blocks self-attention stands, counted from 1
    """

    def __init__(self, channels: Sequence[int], *, attend_after: Sequence[int] = ()) -> None:
        super().__init__()
        before = (3, *channels[:-1])
        self.blocks = nn.ModuleList(PlainBlock(size, out) for size, out in zip(before, channels, strict=True))
        self.attentions = nn.ModuleDict({str(number): SelfAttention2d(channels[number - 1]) for number in attend_after})

    def forward(self, images: Tensor) -> Tensor:
        x = images
        for number, block in enumerate(self.blocks, start=1):
            x = block(x)
            if str(number) in self.attentions:
                x = self.attentions[str(number)](x).context
        return x


def small_cnn_side(side: int, blocks: int) -> int:
    """How many positions a side of the feature map has, for images of that side."""
    for _ in range(blocks):
        side = output_size(output_size(side, kernel=_KERNEL, padding=_PADDING), kernel=_POOL, stride=_POOL)
    return side
