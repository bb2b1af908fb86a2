"""Content-based addressing: the cosine."""

import torch
from torch import Tensor, nn

from saccade.attention.scores.score import DotProductScore

# Shorter vectors than this have no direction, nor do those that have no normal number for a length.
_SHORTEST = 1e-8


class Cosine(DotProductScore):
    """The cosine of the angle between query and key, times a sharpness `β` (Graves 2014).

    e[t, s] = β · (q[t] · k[s]) / (|q[t]| |k[s]|)        [B, T, D], [B, S, D] -> [B, T, S]

    With `β = 1` the weights of two keys never differ by more than a factor of e², so `β` starts at `sharpness` and is
    learned, unless `learned=False`. A vector shorter than 1e-8 (6e-5 in float16) has no
    direction: its cosine with everything is 0, and it gets no gradient.
    """

    def __init__(self, *, sharpness: float = 1.0, learned: bool = True) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.tensor(float(sharpness)), requires_grad=learned)

    def queries(self, query: Tensor) -> Tensor:
        return query * (self.sharpness * _inverse_length(query))

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return key * _inverse_length(key)


def _inverse_length(x: Tensor) -> Tensor:
    """`1 / |x|` over the last dimension, `[..., 1]`; 0, without a gradient, where `x` has no direction."""
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    directed = length >= max(_SHORTEST, torch.finfo(x.dtype).tiny)  # 1e-8 is 0 in float16
    return directed / torch.where(directed, length, 1.0)
