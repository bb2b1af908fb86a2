"""Softmax attention as the formula has it: all scores, all weights, then the context."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax over the last dimension, zero where `mask` is False; a row that is False throughout is all zeros.

    Neither a masked score nor a whole masked row passes a gradient on, and none gives NaN, whatever it is itself.
    """
    if mask is None:
        return scores.softmax(-1)
    hidden = ~mask
    lowest = torch.finfo(scores.dtype).min  # not -inf, whose softmax over a whole row is NaN
    # filled, not multiplied by the mask: a gradient that comes to a hidden weight may be infinite, and 0 · inf is NaN
    return scores.masked_fill(hidden, lowest).softmax(-1).masked_fill(hidden, 0.0)
