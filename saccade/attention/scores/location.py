"""The location score: where, not what."""

import math

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_count, expect_last_dim
from saccade.attention.scores.score import DotProductScore


class Location(DotProductScore):
    """The query alone decides which position to look at (Luong 2015); what the keys say does not matter.

    e[t, s] = W[s] · q[t]        [B, T, Dq], [B, S, any] -> [B, T, S],  W [positions, Dq]

    It is a dot product with the rows of `W` in place of the keys. Sequences longer than `positions` are refused.
    """

    def __init__(self, query_dim: int, positions: int) -> None:
        super().__init__()
        expect_count("query_dim", query_dim)
        expect_count("positions", positions)
        self.weight = nn.Parameter(torch.empty(positions, query_dim))
        nn.init.normal_(self.weight, std=1 / math.sqrt(query_dim))

    @property
    def order_matters(self) -> bool:
        return True

    def queries(self, query: Tensor) -> Tensor:
        expect_last_dim("query", query, self.weight.shape[1])
        return query

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        end = start + key.shape[-2]
        if end > len(self.weight):
            raise ValueError(
                f"key: found {end} keys, wanted at most {len(self.weight)}, the positions that Location was made for;"
                f" make it with positions={end} or more"
            )
        return self.weight[start:end].expand(*key.shape[:-2], -1, -1)
