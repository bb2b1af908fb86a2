"""In which order a training takes its data: a cursor, and indices that a seed shuffles."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Cursor(NamedTuple):
    """Where in the endless stream of batches a training is."""

    epoch: int = 0
    batch: int = 0


class ShuffledIndices:
    """The indices of `count` images in batches, another order each epoch, from a seed and a cursor alone."""

    def __init__(self, count: int, *, batch_size: int, seed: int) -> None:
        self.count, self.batch_size, self.seed = count, batch_size, seed

    def stream(self, cursor: Cursor) -> Iterator[tuple[NDArray[np.int64], Cursor]]:
        """The batches from `cursor` on, endlessly, each with the cursor that comes after it; a rest is left out."""
        whole = max(1, self.count // self.batch_size)
        while True:
            order = np.random.default_rng([self.seed, cursor.epoch]).permutation(self.count)
            for number in range(cursor.batch, whole):
                yield order[number * self.batch_size : (number + 1) * self.batch_size], Cursor(cursor.epoch, number + 1)
            cursor = Cursor(cursor.epoch + 1)
