"""How good labels are."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def confusion(wanted: Sequence[int], found: Sequence[int], *, labels: int) -> NDArray[np.int64]:
    """How many texts of each label, a row, are taken for each label, a column: `[labels, labels]`."""
    table = np.zeros((labels, labels), dtype=np.int64)
    np.add.at(table, (np.asarray(wanted, dtype=np.int64), np.asarray(found, dtype=np.int64)), 1)
    return table


def accuracy(table: NDArray[np.int64]) -> float:
    """The percentage of texts with the right label."""
    return 100 * float(np.trace(table)) / int(table.sum())


def f1_of_labels(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """F1 = 2 · right / (texts that have the label + texts that got it), in percent; 0 for a label without either."""
    both = table.sum(0) + table.sum(1)
    return 100 * 2 * np.diagonal(table) / np.maximum(both, 1)


def macro_f1(table: NDArray[np.int64]) -> float:
    """The mean F1 of the labels that texts have or got: each counts the same, however rare it is."""
    there = table.sum(0) + table.sum(1) > 0
    return float(f1_of_labels(table)[there].mean())
