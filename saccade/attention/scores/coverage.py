"""The score with a coverage: how much weight each key has had already."""

import math

import torch
from torch import Tensor, nn

from saccade.attention._kernels.additive import expect_size
from saccade.attention.scores.additive import Additive
from saccade.attention.scores.score import StatefulScore


class Coverage(StatefulScore):
    """Additive, with the sum `c` of all earlier weights as one more input (Tu 2016; in this form See 2017).

    e[t, s] = vᵀ tanh(W q[t] + U k[s] + w c[t, s]),    c[t] = α[0] + ... + α[t - 1]

    `w` is `[D]`. The state is the coverage `c`, `[B, S]`. Queries come one after another.
    """

    def __init__(self, query_dim: int, key_dim: int, dim: int | None = None) -> None:
        super().__init__()
        self.additive = Additive(query_dim, key_dim, dim)
        self.weight = nn.Parameter(torch.empty_like(self.additive.v))
        bound = 1 / math.sqrt(len(self.weight))
        nn.init.uniform_(self.weight, -bound, bound)

    @property
    def order_matters(self) -> bool:
        return True  # the order of the queries, which come one after another

    def queries(self, query: Tensor) -> Tensor:
        return self.additive.queries(query)

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return self.additive.projected_keys(key)

    def condition_keys(self, keys: Tensor, past: Tensor) -> Tensor:
        expect_size(keys, len(self.weight))
        return self.additive.prepare_keys(keys + past[..., None] * self.weight)

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.additive.compare(queries, keys)

    def update_state(self, past: Tensor, weights: Tensor, *, visible: Tensor | None = None) -> Tensor:
        return past + weights
