"""How good a machine is that writes bits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class BitScore(NamedTuple):
    """What a number of sequences cost, and how many of their bits were wrong."""

    bits: float  # a sequence, as Graves 2014 counts: -Σ log2 P(right bit)
    wrong: float  # in per cent of all bits


def score_bits(logits: NDArray[np.float32], targets: NDArray[np.float32]) -> BitScore:
    """Logits and targets `[B, T, O]` of the steps that count; a target is 0 or 1."""
    away = np.where(targets > 0.5, -logits, logits).astype(np.float64)  # P(right) = 1 / (1 + e^away)
    cost = np.logaddexp(0, away) / np.log(2)
    return BitScore(float(cost.sum() / len(logits)), 100 * float((away >= 0).mean()))
