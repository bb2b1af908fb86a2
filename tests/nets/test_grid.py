"""Feature maps as something to look at, each region knowing where it is."""

import math

import pytest
import torch

from saccade.nets import GridEncoder
from saccade.nets.grid import sinusoids_2d


def test_sinusoids_by_hand() -> None:
    """Two frequencies over a grid of three by three: 1, and a quarter of a turn from edge to edge."""
    found = sinusoids_2d(3, 9)
    slow = math.pi / 4
    for row in range(3):
        for column in range(3):
            wanted = [
                value
                for coordinate in (row, column)
                for value in (
                    math.sin(coordinate),
                    math.sin(slow * coordinate),
                    math.cos(coordinate),
                    math.cos(slow * coordinate),
                )
            ]
            torch.testing.assert_close(found[3 * row + column], torch.tensor([*wanted, 0.0]))


@pytest.mark.parametrize("side", [2, 7, 14])
def test_no_two_regions_are_alike(side: int) -> None:
    regions = sinusoids_2d(side, 32)
    apart = torch.cdist(regions, regions).fill_diagonal_(math.inf)
    assert apart.min() > 0.1


@pytest.mark.parametrize(("side", "dim"), [(1, 4), (1, 3), (5, 3), (5, 6)])
def test_small_sizes(side: int, dim: int) -> None:
    found = sinusoids_2d(side, dim)
    assert found.shape == (side * side, dim)
    assert bool(found.isfinite().all())


def test_states_know_what_and_where() -> None:
    torch.manual_seed(0)
    encoder = GridEncoder(5, 12, side=3, finals=2, dropout=0.0)
    feature = torch.randn(5)
    encoded = encoder(feature.expand(2, 9, 5))
    assert encoded.states.shape == (2, 9, 12)
    assert not torch.allclose(encoded.states[0, 0], encoded.states[0, 1])  # the same, seen elsewhere
    what = encoder.projection(encoder.norm(feature))
    torch.testing.assert_close(encoded.states[1, 4], what + sinusoids_2d(3, 12)[4])
    assert len(encoded.final) == 2
    torch.testing.assert_close(encoded.final[0], encoded.states.mean(1))


def test_positions_beside_the_features() -> None:
    """W [norm(a), p]: what W has for the features, times them, and what it has for positions, times those."""
    torch.manual_seed(0)
    encoder = GridEncoder(5, 12, side=3, finals=1, dropout=0.0, combine="concatenate")
    features = torch.randn(2, 9, 5)
    (what, where), bias = encoder.projection.weight.split([5, 12], dim=1), encoder.projection.bias
    wanted = encoder.norm(features) @ what.t() + sinusoids_2d(3, 12) @ where.t() + bias
    torch.testing.assert_close(encoder(features).states, wanted)
