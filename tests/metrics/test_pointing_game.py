"""Whether a model looks at what it names."""

import numpy as np
import pytest

from saccade.metrics import pointing_accuracy
from saccade.metrics.pointing_game import peak_of


def at(row: int, column: int, side: int = 4) -> np.ndarray:
    weights = np.full((side, side), 0.01, dtype=np.float32)
    weights[row, column] = 0.5
    return weights.flatten()


def test_the_peak_is_the_middle_of_its_region():
    assert peak_of(at(1, 3), side=4) == pytest.approx((0.875, 0.375))


def test_peaks_in_their_boxes_are_counted():
    upper_right = (0.5, 0.0, 1.0, 0.5)
    looked = [(at(1, 3), upper_right), (at(0, 2), upper_right), (at(3, 3), upper_right), (at(1, 1), upper_right)]
    assert pointing_accuracy(looked, side=4) == pytest.approx(50)
    assert pointing_accuracy([], side=4) == 0
