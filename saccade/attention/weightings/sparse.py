"""Sparse attention: weights that can be exactly zero."""

import torch
from torch import Tensor

from saccade.attention._checks import expect_mask
from saccade.attention.weightings.weighting import Weighting, WeightingOutput


class Sparse(Weighting):
    """Sparsemax, the nearest point to the scores among all weights that sum to one (Martins 2016).

    a = argmin_p |p - e|²  over p >= 0, Σ p = 1;    a[s] = max(e[s] - τ, 0) with the τ that makes the sum one
    """

    def forward(
        self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None
    ) -> WeightingOutput:
        return WeightingOutput(sparsemax(scores, mask))


def sparsemax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Sparsemax over the last dimension: sort, find how many scores stay above the threshold, subtract it.

    Zero where `mask` is False; a row that is False throughout is all zeros. With the support S = {s: a[s] > 0}, the
    gradient that comes to the weights goes on to the scores as

        ∂e[s] = g[s] - mean of g over S,  for s in S, and 0 elsewhere

    Where a score lies just at the threshold, this is the derivative of the side on which its weight is 0.
    """
    if mask is not None:
        expect_mask(mask, scores.shape)
    dtype = scores.dtype
    if dtype in (torch.float16, torch.bfloat16):
        scores = scores.float()  # they cannot add up far
    outside = _outside_support(scores.detach(), mask)
    scores = scores - _highest(scores.detach(), mask)  # sparsemax does not notice
    size = (~outside).sum(-1, keepdim=True).clamp(min=1)
    threshold = (scores.masked_fill(outside, 0.0).sum(-1, keepdim=True) - 1) / size
    weights = scores - threshold
    weights = weights + (-weights.detach()).clamp(min=0)  # below 0 by rounding only; a clamp would cut the gradient
    return weights.masked_fill(outside, 0.0).to(dtype)


def _outside_support(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Whose weight is zero, `[..., S]`. Equal scores are on one side together."""
    scores = scores - _highest(scores, mask)
    if mask is not None:
        scores = scores.masked_fill(~mask, -2.0)  # one below the highest is already too low for any weight
    ordered = scores.sort(dim=-1, descending=True).values
    count = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=scores.dtype)
    size = (1 + count * ordered > ordered.cumsum(-1)).sum(-1, keepdim=True).clamp(min=1)
    outside = scores < ordered.gather(-1, size - 1)  # what is no number is not lower, and so is seen in the weights
    return outside if mask is None else outside | ~mask


def _highest(scores: Tensor, mask: Tensor | None) -> Tensor:
    """The highest score that may be seen, `[..., 1]`."""
    visible = scores if mask is None else scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return visible.amax(-1, keepdim=True)
