"""Shuffles that are never made."""

from collections import Counter

import numpy as np
import pytest

from saccade.base.shuffling import shuffled


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 16, 17, 101, 256, 1009])
def test_every_number_comes_once(count: int) -> None:
    found = shuffled(np.arange(count), count, seed=[3, 1])
    assert sorted(found.tolist()) == list(range(count))
    parts = [shuffled(np.arange(first, min(first + 7, count)), count, seed=[3, 1]) for first in range(0, count, 7)]
    assert np.concatenate(parts).tolist() == found.tolist()


def test_all_orders_are_as_likely() -> None:
    """Of four numbers there are 24; and of many, neighbours land anywhere."""
    orders = Counter(tuple(shuffled(np.arange(4), 4, seed=[5, number]).tolist()) for number in range(2400))
    assert len(orders) == 24
    assert sum((count - 100) ** 2 / 100 for count in orders.values()) < 49.7  # chi squared, 23 degrees, p = 0.001
    found = shuffled(np.arange(10_007), 10_007, seed=[5])
    assert abs(np.corrcoef(np.arange(10_007), found)[0, 1]) < 0.03
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.03


def test_a_shuffle_of_very_many() -> None:
    count = 10**12
    found = shuffled(np.arange(count - 1000, count), count, seed=[0])
    assert len(set(found.tolist())) == 1000
    assert 0 <= found.min() < found.max() < count
    assert abs(found.mean() / count - 0.5) < 0.05
