"""The table of a net's layers, beside what torch gives and what can be counted by hand."""

import pytest
import torch
from torch import nn

from saccade.nets import SmallCnn, small_cnn_side
from saccade.nets.layers import layers_of
from saccade.nets.small_cnn import PlainBlock


def test_each_layer_with_its_size_and_formula() -> None:
    net = nn.Sequential(
        nn.Conv2d(3, 5, 5, stride=2, padding=1),
        nn.ReLU(),
        nn.AvgPool2d(3, stride=2),
        nn.Flatten(),
        nn.Linear(5 * 49, 7),
    )
    convolution, relu, pool, flat, linear = layers_of(net, torch.zeros(1, 3, 33, 33))
    assert convolution == ("0", "Conv2d", (5, 16, 16), "⌊(33 + 2·1 - 5) / 2⌋ + 1 = 16", 5 * (3 * 25 + 1))
    assert relu == ("1", "ReLU", (5, 16, 16), "", 0)
    assert pool == ("2", "AvgPool2d", (5, 7, 7), "⌊(16 + 2·0 - 3) / 2⌋ + 1 = 7", 0)
    assert flat == ("3", "Flatten", (245,), "", 0)
    assert linear == ("4", "Linear", (7,), "", 7 * 246)


@pytest.mark.parametrize("downsampling", ["max", "average", "stride"])
@pytest.mark.parametrize("side", [16, 19, 37])
def test_a_cnn_and_how_it_halves_its_sides(downsampling: str, side: int) -> None:
    net = SmallCnn([4, 6, 8], attend_after=[2], downsampling=downsampling)  # pyright: ignore[reportArgumentType]
    layers = layers_of(net, torch.zeros(1, 3, side, side))
    assert sum(layer.parameters for layer in layers) == sum(parameter.numel() for parameter in net.parameters())
    assert [layer.kind for layer in layers].count("SelfAttention2d") == 1
    wanted = small_cnn_side(side, 3, downsampling=downsampling)  # pyright: ignore[reportArgumentType]
    assert layers[-1].shape == (8, wanted, wanted)
    assert net(torch.zeros(2, 3, side, side)).shape == (2, 8, wanted, wanted)
    assert not any(module._forward_hooks for module in net.modules())
    assert net.training


def test_what_poolings_pool() -> None:
    x = torch.arange(16.0).view(1, 1, 4, 4)
    for kind, wanted in (("max", [5, 7, 13, 15]), ("average", [2.5, 4.5, 10.5, 12.5]), ("stride", list(range(16)))):
        block = PlainBlock(1, 1, downsampling=kind)  # pyright: ignore[reportArgumentType]
        assert block.pool(x).flatten().tolist() == wanted
