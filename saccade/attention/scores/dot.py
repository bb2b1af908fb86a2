"""The dot product, as it is and scaled."""

import math

from torch import Tensor

from saccade.attention.scores.score import DotProductScore


class Dot(DotProductScore):
    """The dot product (Luong 2015): query and key have one size `D`.

    e[t, s] = q[t] · k[s]        [B, T, D], [B, S, D] -> [B, T, S]
    """

    def queries(self, query: Tensor) -> Tensor:
        return query

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return key


class ScaledDot(DotProductScore):
    """The scaled dot product (Vaswani 2017), which keeps its spread as `D` grows.

    e[t, s] = q[t] · k[s] / √D        [B, T, D], [B, S, D] -> [B, T, S]
    """

    def queries(self, query: Tensor) -> Tensor:
        return query / math.sqrt(query.shape[-1])

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return key
