"""Softmax attention as the formula has it: all scores, all weights, then the context."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax over the last dimension, zero where `mask` is False; a row that is False throughout is all zeros.

    Neither a masked score nor a whole masked row passes a gradient on, and none gives NaN.
    """
    if mask is None:
        return scores.softmax(-1)
    lowest = torch.finfo(scores.dtype).min  # not -inf, whose softmax over a whole row is NaN
    return scores.masked_fill(~mask, lowest).softmax(-1) * mask


def weighted_sum(weights: Tensor, value: Tensor) -> Tensor:
    """Context: `[B, T, S]`, `[B, S, V]` -> `[B, T, V]`."""
    return weights.to(value.dtype) @ value
