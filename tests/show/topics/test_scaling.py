"""What the division by √d does, against numpy and against theory."""

import math

import numpy as np
import pytest
import torch

from saccade.show import Curves, Table, make_lesson
from saccade.show.topics.scaling import KEYS, SIZES, entropy, slope
from tests.show.blocks import blocks, column


def test_entropy_and_slope_against_numpy() -> None:
    weights = torch.randn(3, 5, dtype=torch.float64).softmax(-1)
    rows = weights.numpy()
    assert entropy(weights) == pytest.approx(-(rows * np.log2(rows)).sum(-1).mean())
    jacobians = [np.diag(row) - np.outer(row, row) for row in rows]
    assert slope(weights) == pytest.approx(np.mean([np.trace(one) for one in jacobians]))
    assert entropy(torch.eye(4)) == 0
    assert entropy(torch.full((2, 8), 1 / 8)) == pytest.approx(3)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_spread_is_the_root_and_the_entropy_falls_unless_it_is_divided_away(seed: int) -> None:
    shown = make_lesson("scaling", seed=seed)
    (curves,), (table,) = blocks(shown, Curves), blocks(shown, Table)
    for size, spread in zip(column(table, "d"), column(table, "spread of q · k"), strict=True):
        assert float(spread) == pytest.approx(math.sqrt(int(size)), rel=0.25)
    plain, scaled = curves.lines["q · k"], curves.lines["q · k / √d"]
    assert list(curves.x) == list(SIZES)
    assert plain[0] == scaled[0] > 3
    assert plain[-1] < 0.5
    assert min(scaled) > 3.5
    assert max(scaled) < math.log2(KEYS)
    assert float(column(table, "slope")[-1]) < 0.15
    assert float(column(table, "slope, / √d")[-1]) > 0.8
