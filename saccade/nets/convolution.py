"""Convolutions, and the sizes of what they give.

Letters: `B` batch, `C` channels, `H` height, `W` width.
"""

import torch.nn.functional as F
from torch import Tensor, nn


def output_size(size: int, *, kernel: int, stride: int = 1, padding: int = 0, dilation: int = 1) -> int:
    """The size of an output along a side, of a convolution or of pooling: ⌊(n + 2p - d (k - 1) - 1) / s⌋ + 1."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    if min(size, kernel, stride, dilation) < 1 or padding < 0 or room < 0:
        raise ValueError(
            f"a window of {kernel} (dilation {dilation}, stride {stride}, padding {padding}) has no place in {size}"
        )
    return room // stride + 1


class SameConv2d(nn.Conv2d):
    """A convolution that gives ⌈n / stride⌉ positions along each side, as TensorFlow's "SAME" does, and has no bias.

    The padding follows from the size of the image: as little as is needed, and where it is odd, more at the end.
    """

    def __init__(self, channels: int, out: int, kernel: int, *, stride: int = 1, groups: int = 1) -> None:
        super().__init__(channels, out, kernel, stride=stride, groups=groups, bias=False)

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - torch's name
        """`[B, C, H, W]` -> `[B, out, ⌈H / stride⌉, ⌈W / stride⌉]`."""
        kernel, stride = self.kernel_size[0], self.stride[0]
        high, wide = (max((-(-n // stride) - 1) * stride + kernel - n, 0) for n in input.shape[-2:])
        if high % 2 == 0 and wide % 2 == 0:
            return F.conv2d(input, self.weight, None, stride, (high // 2, wide // 2), 1, self.groups)
        padded = F.pad(input, (wide // 2, wide - wide // 2, high // 2, high - high // 2))
        return F.conv2d(padded, self.weight, None, stride, 0, 1, self.groups)
