"""Content-based addressing: the cosine."""

import torch
from torch import Tensor, nn

from saccade.attention._kernels.length import to_length
from saccade.attention.scores.score import DotProductScore


class Cosine(DotProductScore):
    """The cosine of the angle between query and key, times a sharpness `β` (Graves 2014).

    e[t, s] = β · (q[t] · k[s]) / (|q[t]| |k[s]|)        [B, T, D], [B, S, D] -> [B, T, S]

    With `β = 1` the weights of two keys never differ by more than a factor of e², so `β` starts at `sharpness` and is
    learned, unless `learned=False`. A vector shorter than 1e-8 has no direction: its cosine
    with everything is 0, and it gets no gradient.
    """

    def __init__(self, *, sharpness: float = 1.0, learned: bool = True) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.tensor(float(sharpness)), requires_grad=learned)

    def queries(self, query: Tensor) -> Tensor:
        return to_length(query, self.sharpness)

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return to_length(key, torch.ones_like(self.sharpness))
