"""Sizes of convolutions, and the padding that follows from the image."""

from itertools import product

import pytest
import torch
import torch.nn.functional as F

from saccade.nets import output_size
from saccade.nets.convolution import SameConv2d

WINDOWS = list(product((1, 2, 3, 5), (1, 2, 3), (0, 1, 2), (1, 2)))


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), WINDOWS)
def test_the_formula_is_what_torch_does(kernel: int, stride: int, padding: int, dilation: int):
    weight = torch.zeros(1, 1, kernel, kernel)
    for size in range(9, 14):
        found = F.conv2d(torch.zeros(1, 1, size, size), weight, None, stride, padding, dilation)
        assert output_size(size, kernel=kernel, stride=stride, padding=padding, dilation=dilation) == found.shape[-1]


@pytest.mark.parametrize(("size", "kernel"), [(4, 5), (0, 1)])
def test_a_window_that_does_not_fit(size: int, kernel: int):
    with pytest.raises(ValueError, match="no place"):
        output_size(size, kernel=kernel)


@pytest.mark.parametrize(("kernel", "stride"), list(product((1, 3, 5), (1, 2))))
@pytest.mark.parametrize("size", [(8, 8), (7, 8), (5, 9), (1, 1)])
def test_same_padding_is_the_least_that_covers_the_image(kernel: int, stride: int, size: tuple[int, int]):
    torch.manual_seed(0)
    layer, x = SameConv2d(2, 3, kernel, stride=stride), torch.randn(1, 2, *size)
    high, wide = (-(-side // stride) for side in size)
    # where the first window begins, along each side: half of what is missing, rounded down, lies before the image
    top, left = (
        max((positions - 1) * stride + kernel - side, 0) // 2
        for positions, side in zip((high, wide), size, strict=True)
    )
    wanted = torch.zeros(1, 3, high, wide)
    for row, column, down, across in product(range(high), range(wide), range(kernel), range(kernel)):
        y, z = row * stride - top + down, column * stride - left + across
        if 0 <= y < size[0] and 0 <= z < size[1]:
            wanted[0, :, row, column] += layer.weight[:, :, down, across].detach() @ x[0, :, y, z]
    torch.testing.assert_close(layer(x).detach(), wanted)
