"""In which order a training takes its data: a cursor, and indices that a seed shuffles."""

from collections.abc import Iterator, Sequence
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


_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # of splitmix64 (Steele 2014)


def shuffled(numbers: NDArray[np.int64], count: int, *, seed: Sequence[int]) -> NDArray[np.int64]:
    """Where each of the numbers goes in a shuffle of all below `count`, which is never made: it may be of any size.

    A Feistel network of four rounds (Luby and Rackoff 1988) shuffles all numbers of as many bits as are wanted, or of
    eight; one that comes out too high goes in again (Black and Rogaway 2002).
    """
    half = np.uint64(max(((count - 1).bit_length() + 1) // 2, 4))
    low = (np.uint64(1) << half) - np.uint64(1)
    keys = np.random.default_rng(seed).integers(0, 2**64, size=4, dtype=np.uint64)
    found = numbers.astype(np.uint64)
    moving = np.ones(len(found), dtype=bool)
    while moving.any():
        left, right = found[moving] >> half, found[moving] & low
        for key in keys:
            left, right = right, left ^ (_mixed(right + key) & low)
        found[moving] = (left << half) | right
        moving = found >= count
    return found.astype(np.int64)


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for shift, factor in _MIX:
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))
