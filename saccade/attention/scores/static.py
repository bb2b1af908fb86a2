"""The score that does not depend on the query: one weighted sum for all of them."""

import math

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_count, expect_last_dim
from saccade.attention.scores.score import DotProductScore
from saccade.runtime.linear import apply_linear


class Static(DotProductScore):
    """How much each key counts, whoever asks: the additive score without its query ("static" as Brody 2022 has it).

    e[t, s] = vᵀ tanh(U k[s])        [B, T, any], [B, S, Dk] -> [B, T, S],  U [D, Dk], v [D]

    All queries get the same weights, learned from the keys alone, so that it stands between a plain mean and attention
    (a pooling by attention, Yang 2016). `D` is `dim`, or `key_dim` if none is given. It is a dot product with `v` in
    place of every query.
    """

    def __init__(self, key_dim: int, dim: int | None = None) -> None:
        super().__init__()
        dim = key_dim if dim is None else dim
        for name, size in (("key_dim", key_dim), ("dim", dim)):
            expect_count(name, size)
        self.key_projection = nn.Linear(key_dim, dim, bias=False)
        self.v = nn.Parameter(torch.empty(dim))
        nn.init.uniform_(self.v, -1 / math.sqrt(dim), 1 / math.sqrt(dim))

    @property
    def follows_query(self) -> bool:
        return False

    def queries(self, query: Tensor) -> Tensor:
        return self.v.expand(*query.shape[:-1], -1)

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        expect_last_dim("key", key, self.key_projection.in_features)
        return torch.tanh(apply_linear(self.key_projection, key))
