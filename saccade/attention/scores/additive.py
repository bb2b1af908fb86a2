"""The additive score."""

import math

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_count, expect_last_dim
from saccade.attention._kernels.additive import additive_scores, exp2x, exp2x_keys
from saccade.attention.scores.score import Score
from saccade.runtime.linear import apply_linear


class Additive(Score):
    """A small network of one hidden layer (Bahdanau 2015; "concat" in Luong 2015).

    e[t, s] = vᵀ tanh(W q[t] + U k[s])        [B, T, Dq], [B, S, Dk] -> [B, T, S],  W [D, Dq], U [D, Dk], v [D]

    `D` is `dim`, or `key_dim` if none is given. With `dim=1` it is the form of some lectures, tanh(w·q + u·k), times a
    number. How it is computed without a `tanh` for each of `T S D` elements: `saccade/attention/_kernels/additive.py`.
    It is right to about 1e-7 Σ|v| in float32, for projected numbers within ±40 (±340 in float64); those beyond are
    taken as if they stood there.
    """

    def __init__(self, query_dim: int, key_dim: int, dim: int | None = None) -> None:
        super().__init__()
        dim = key_dim if dim is None else dim
        for name, size in (("query_dim", query_dim), ("key_dim", key_dim), ("dim", dim)):
            expect_count(name, size)
        self.query_projection = nn.Linear(query_dim, dim, bias=False)
        self.key_projection = nn.Linear(key_dim, dim, bias=False)
        self.v = nn.Parameter(torch.empty(dim))
        nn.init.uniform_(self.v, -1 / math.sqrt(dim), 1 / math.sqrt(dim))

    def queries(self, query: Tensor) -> Tensor:
        expect_last_dim("query", query, self.query_projection.in_features)
        return exp2x(apply_linear(self.query_projection, query))

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return exp2x_keys(self.projected_keys(key))

    def projected_keys(self, key: Tensor) -> Tensor:
        """`U k` alone, for scores that add a term of their own to it: `[B, S, Dk]` -> `[B, S, D]`."""
        expect_last_dim("key", key, self.key_projection.in_features)
        return apply_linear(self.key_projection, key)

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        return additive_scores(queries, keys, self.v)
