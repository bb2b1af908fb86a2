"""Sparse attention: weights that can be exactly zero."""

import torch
from torch import Tensor

from saccade.attention._checks import expect_mask
from saccade.attention.weightings.weighting import Weighted, Weighting


class Sparse(Weighting):
    """Sparsemax, the nearest point to the scores among all weights that sum to one (Martins 2016).

    a = argmin_p |p - e|²  over p >= 0, Σ p = 1;    a[s] = max(e[s] - τ, 0) with the τ that makes the sum one
    """

    def forward(self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None) -> Weighted:
        return Weighted(sparsemax(scores, mask))


def sparsemax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Sparsemax over the last dimension: sort, find how many scores stay above the threshold, subtract it.

    Zero where `mask` is False; a row that is False throughout is all zeros.
    """
    if mask is not None:
        expect_mask(mask, scores.shape)
    lowest = torch.finfo(scores.dtype).min
    visible = scores.detach() if mask is None else scores.detach().masked_fill(~mask, lowest)
    scores = scores - visible.amax(-1, keepdim=True)  # sparsemax does not notice
    if mask is not None:
        scores = scores.masked_fill(~mask, -2.0)  # one below the highest is already too low for any weight

    ordered = scores.sort(dim=-1, descending=True).values
    sums = ordered.cumsum(-1)
    count = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=scores.dtype)
    support = (1 + count * ordered > sums).sum(-1, keepdim=True).clamp(min=1)  # how many weights are above zero
    threshold = (sums.gather(-1, support - 1) - 1) / support
    weights = (scores - threshold).clamp(min=0)
    return weights if mask is None else weights * mask
