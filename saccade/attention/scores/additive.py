"""The additive score."""

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention._checks import expect_choice, expect_count, expect_last_dim, expect_same_kind
from saccade.attention._kernels.additive import additive_scores, exp2x, exp2x_keys, expect_size
from saccade.attention.scores.score import Score
from saccade.runtime.linear import apply_linear

Activation = Literal["tanh", "sigmoid", "relu", "gelu"]
ACTIVATIONS: tuple[Activation, ...] = ("tanh", "sigmoid", "relu", "gelu")


class Additive(Score):
    """A small network of one hidden layer (Bahdanau 2015; "concat" in Luong 2015).

    e[t, s] = vᵀ tanh(W q[t] + U k[s])        [B, T, Dq], [B, S, Dk] -> [B, T, S],  W [D, Dq], U [D, Dk], v [D]

    `D` is `dim`, or `key_dim` if none is given. Without `v`, and with `D = 1`, it is a `Perceptron`. How it is computed
    without a `tanh` for each of `T S D` elements: `saccade/attention/_kernels/additive.py`. It is right to about
    1e-7 Σ|v| in float32, for projected numbers within ±40 (±340 in float64); those beyond are taken as if they stood
    there.

    `activation` may be another than tanh. A sigmoid takes the same way, for σ(x) = (1 + tanh(x / 2)) / 2. A relu and a
    gelu are computed as the formula stands, with a tensor `[B, T, S, D]`.
    """

    def __init__(
        self, query_dim: int, key_dim: int, dim: int | None = None, *, activation: Activation = "tanh"
    ) -> None:
        super().__init__()
        dim = key_dim if dim is None else dim
        for name, size in (("query_dim", query_dim), ("key_dim", key_dim), ("dim", dim)):
            expect_count(name, size)
        expect_choice("activation", activation, ACTIVATIONS)
        self.activation: Activation = activation
        self.query_projection = nn.Linear(query_dim, dim, bias=False)
        self.key_projection = nn.Linear(key_dim, dim, bias=False)
        self.v = nn.Parameter(torch.empty(dim))
        nn.init.uniform_(self.v, -1 / math.sqrt(dim), 1 / math.sqrt(dim))

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}"

    def queries(self, query: Tensor) -> Tensor:
        expect_last_dim("query", query, self.query_projection.in_features)
        projected = apply_linear(self.query_projection, query)
        match self.activation:
            case "tanh":
                return exp2x(projected)
            case "sigmoid":
                return exp2x(projected / 2)
            case _:
                return projected

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return self.prepare_keys(self.projected_keys(key))

    def projected_keys(self, key: Tensor) -> Tensor:
        """`U k` alone, for scores that add a term of their own to it: `[B, S, Dk]` -> `[B, S, D]`."""
        expect_last_dim("key", key, self.key_projection.in_features)
        return apply_linear(self.key_projection, key)

    def prepare_keys(self, projected: Tensor) -> Tensor:
        """What `compare` takes, of `U k` and whatever was added to it: `[B, S, D]` -> `[B, S, D]`."""
        match self.activation:
            case "tanh":
                return exp2x_keys(projected)
            case "sigmoid":
                return exp2x_keys(projected / 2)
            case _:
                return projected

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        if self.activation == "tanh":
            return additive_scores(queries, keys, self.v)
        if self.activation == "sigmoid":
            scores = additive_scores(queries, keys, self.v)
            return (scores + self.v.to(scores).sum()) / 2
        expect_same_kind("key", keys, like=("query", queries))
        expect_size(keys, queries.shape[-1])
        return activate(queries[..., :, None, :] + keys[..., None, :, :], self.activation) @ self.v.to(queries)


def activate(x: Tensor, activation: Activation) -> Tensor:
    """The activation of that name, element by element."""
    match activation:
        case "tanh":
            return x.tanh()
        case "sigmoid":
            return x.sigmoid()
        case "relu":
            return x.relu()
        case "gelu":
            return F.gelu(x)
