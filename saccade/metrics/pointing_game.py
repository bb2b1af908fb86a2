"""Whether a model looks at what it names."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Box = tuple[float, float, float, float]  # left, top, right, bottom, in shares of the image's sides


def peak_of(weights: NDArray[np.float32], *, side: int) -> tuple[float, float]:
    """Where the largest of `side` x `side` weights is, row by row: x and y of its region's middle, from 0 to 1."""
    row, column = divmod(int(weights.argmax()), side)
    return (column + 0.5) / side, (row + 0.5) / side


def pointing_accuracy(looked: Iterable[tuple[NDArray[np.float32], Box]], *, side: int) -> float:
    """The pointing game (Zhang 2016), in percent: of weights `[regions]` and boxes, how many peaks fall in the box."""
    hits = [
        left <= x <= right and top <= y <= bottom
        for weights, (left, top, right, bottom) in looked
        for x, y in [peak_of(weights, side=side)]
    ]
    return 100 * sum(hits) / len(hits) if hits else 0.0
