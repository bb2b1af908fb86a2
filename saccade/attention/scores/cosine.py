"""Content-based addressing: the cosine."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention.scores.score import DotProductScore


class Cosine(DotProductScore):
    """The cosine of the angle between query and key, times a sharpness `β` (Graves 2014).

    e[t, s] = β · (q[t] · k[s]) / (|q[t]| |k[s]|)        [B, T, D], [B, S, D] -> [B, T, S]

    With `β = 1` the weights of two keys never differ by more than a factor of e², so `β` starts at `sharpness` and is
    learned, unless `learned=False`. A vector of zeros has cosine 0 with everything.
    """

    def __init__(self, *, sharpness: float = 1.0, learned: bool = True) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.tensor(float(sharpness)), requires_grad=learned)

    def queries(self, query: Tensor) -> Tensor:
        return self.sharpness * F.normalize(query, dim=-1, eps=1e-8)

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return F.normalize(key, dim=-1, eps=1e-8)
