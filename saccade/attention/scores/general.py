"""The general score: a learned product."""

import math

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_count, expect_last_dim
from saccade.attention.scores.score import DotProductScore


class General(DotProductScore):
    """A learned bilinear form (Luong 2015): query and key may differ in size.

    e[t, s] = q[t]ᵀ W k[s]        [B, T, Dq], [B, S, Dk] -> [B, T, S],  W [Dq, Dk]
    """

    def __init__(self, query_dim: int, key_dim: int) -> None:
        super().__init__()
        expect_count("query_dim", query_dim)
        expect_count("key_dim", key_dim)
        self.weight = nn.Parameter(torch.empty(query_dim, key_dim))
        # e then has the spread of a scaled dot product, for inputs of unit variance
        nn.init.normal_(self.weight, std=1 / math.sqrt(query_dim * key_dim))

    def queries(self, query: Tensor) -> Tensor:
        expect_last_dim("query", query, self.weight.shape[0])
        return query @ self.weight

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        expect_last_dim("key", key, self.weight.shape[1])
        return key
