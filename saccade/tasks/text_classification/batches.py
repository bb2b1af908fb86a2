"""Texts in batches of similar length, in an order that a seed and a cursor determine."""

from collections.abc import Iterator, Sequence

import numpy as np

from saccade.base.shuffling import Cursor

_POOL = 16  # batches; in each pool of so many, texts are sorted by length


class LengthBatches:
    """The indices of all texts once an epoch, in batches of similar length.

    Each epoch has an order of its own. Texts are shuffled and sorted by length in pools, so that batches need little
    padding and yet are not of the same texts each time. The order depends on the seed and the epoch alone, so a
    `Cursor` is all there is to save.
    """

    def __init__(self, lengths: Sequence[int], *, batch_size: int, seed: int) -> None:
        self.lengths = np.asarray(lengths)
        self.batch_size = batch_size
        self.seed = seed

    def order(self, epoch: int) -> list[list[int]]:
        """The batches of an epoch."""
        rng = np.random.default_rng([self.seed, epoch])
        order, size = rng.permutation(len(self.lengths)), self.batch_size
        batches: list[list[int]] = []
        for first in range(0, len(order), _POOL * size):
            pool = order[first : first + _POOL * size]
            pool = pool[np.argsort(self.lengths[pool], kind="stable")]
            batches += [pool[start : start + size].tolist() for start in range(0, len(pool), size)]
        return [batches[number] for number in rng.permutation(len(batches))]

    def stream(self, cursor: Cursor) -> Iterator[tuple[list[int], Cursor]]:
        """The batches from `cursor` on, endlessly, each with the cursor that comes after it."""
        while True:
            batches = self.order(cursor.epoch)
            for number in range(cursor.batch, len(batches)):
                yield batches[number], Cursor(cursor.epoch, number + 1)
            cursor = Cursor(cursor.epoch + 1)
