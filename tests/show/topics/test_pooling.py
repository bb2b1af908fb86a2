"""Pooling against loops over its windows, and its gradients by who is the largest."""

import numpy as np
import pytest
import torch

from saccade.show import Curves, Matrix, Table, make_lesson
from saccade.show.topics import pooling
from saccade.show.topics.pooling import BETAS, SIDE

STARTS = range(0, SIDE, 2)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pictures_are_those_of_loops(seed: int) -> None:
    blocks = make_lesson("pooling", seed=seed).blocks
    x, largest, average, to_largest, to_average = (block.weights for block in blocks if isinstance(block, Matrix))
    assert sorted(x.ravel()) == list(range(1, SIDE**2 + 1))
    windows = [[x[i : i + 2, j : j + 2] for j in STARTS] for i in STARTS]
    assert largest.tolist() == [[window.max() for window in row] for row in windows]
    assert average.tolist() == [[window.mean() for window in row] for row in windows]
    assert to_largest.tolist() == np.isin(x, largest).astype(float).tolist()
    assert np.unique(to_average).tolist() == [0.25]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_where_windows_overlap_gradients_add_up(seed: int) -> None:
    blocks = make_lesson("pooling", seed=seed).blocks
    x = next(block.weights for block in blocks if isinstance(block, Matrix))
    (table,) = (block for block in blocks if isinstance(block, Table))
    winners = [x[i : i + 3, j : j + 3].max() for i in range(SIDE - 2) for j in range(SIDE - 2)]
    values, counts = np.unique(winners, return_counts=True)
    assert table.rows[-1][3:] == ("4 × 4", f"{len(values)} of {SIDE**2}", f"{max(counts)}.00")
    assert [row[3] for row in table.rows[:2]] == ["3 × 3"] * 2


def test_attention_lies_between_average_and_maximum() -> None:
    x = pooling.shuffled(1)
    (curves,) = (block for block in make_lesson("pooling").blocks if isinstance(block, Curves))
    first = x[:2, :2].flatten().double().numpy()
    wanted = [(first * np.exp(beta * first)).sum() / np.exp(beta * first).sum() for beta in BETAS]
    np.testing.assert_allclose(curves.lines["attention over the window"], wanted, rtol=1e-5)
    assert wanted[0] == curves.lines["average"][0] == first.mean()
    assert curves.lines["max"][-1] == first.max()
    torch.testing.assert_close(pooling.attention_pool(x, 50.0), torch.nn.functional.max_pool2d(x[None], 2)[0])
