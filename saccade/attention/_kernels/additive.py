"""The additive score without a `[B, T, S, D]` tensor, and without a `tanh` for each of its elements.

    e[t, s] = Σ_d v[d] tanh(q[t, d] + k[s, d])

Since `tanh x = 1 - 2 / (1 + e^2x)` and `e^2(q+k) = e^2q e^2k`, the exponentials are taken of queries and keys before
they meet, `(T + S) D` of them. What is left for each of the `T S D` pairs is one product, one division, one sum:

    e[t, s] = Σ_d v[d] (1 - 2 r),    r = 1 / (1 + Q[t, d] K[s, d]),    Q = e^2q,  K = e^2k

and for the gradient `∂e/∂q[t, d] = 4 v[d] (r - r²)`, with `r` computed anew.

The error is that of rounding numbers near 1: about 1e-7 Σ|v| in float32, whatever the size of the score. Softmax asks
for no more; a score that is itself tiny has fewer correct digits than by `tanh`. There is no second derivative.

Letters: `B` batch (any leading dimensions), `N` the batch as one dimension, `T` queries, `S` keys, `D` dim.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from saccade.attention._checks import expect_same_kind
from saccade.attention._kernels.native import NativeLoops, native_loops

# e^2x stays a normal number with a normal inverse while |x| is below these: log(max) / 2, rounded down. Numbers beyond
# are clamped. tanh is long flat there, so that shows only where a query and a key of opposite signs both come near.
_LIMITS = {torch.float32: 43.0, torch.float64: 350.0}

# Elements of a [T, S, D] tile on the torch path: small enough to stay in a processor's cache from step to step.
_TILE = 1 << 17


def plain_additive_scores(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    """The formula as it stands, `[B, T, S, D]` tensor and all; what the fast path is held to."""
    return torch.tanh(query[..., :, None, :] + key[..., None, :, :]) @ v


def exponential(x: Tensor) -> Tensor:
    """`e^2x` of projected queries or keys, for `additive_scores` and for nothing else: `[B, S, D]` -> `[B, S, D]`.

    The result carries its gradient as that of `x`: `additive_scores` hands back `∂/∂x` directly, where the detour over
    `∂/∂e^2x` would overflow. Slices, sums and selections of the result are fine, being linear.
    """
    if x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()  # their exponent or precision is too small for e^2x
    return _Exponential.apply(x)


def exponential_keys(x: Tensor) -> Tensor:
    """`exponential` of keys, laid out in memory as the loops want them, so that no call has to do it again."""
    return exponential(x.transpose(-1, -2).contiguous()).transpose(-1, -2)


class _Exponential(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        limit = _LIMITS[x.dtype]
        return x.clamp(-limit, limit).mul_(2).exp_()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return grad


def additive_scores(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    """`[B, T, D]` from `exponential`, `[B, S, D]` from `exponential_keys`, and `[D]` -> scores `[B, T, S]`."""
    expect_same_kind("key", key, like=("query", query))
    *batch, queries, dim = query.shape
    keys = key.shape[-2]
    scores = _AdditiveScores.apply(query.reshape(-1, queries, dim), key.reshape(-1, keys, dim), v.to(query))
    return scores.reshape(*batch, queries, keys)


class _AdditiveScores(Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, v: Tensor) -> Tensor:
        query, v = query.contiguous(), v.contiguous()
        key = key.transpose(1, 2).contiguous()  # [N, D, S]: neighbouring keys side by side
        ctx.save_for_backward(query, key, v)
        return _loops(query).scores(query, key, v)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        query, key, v = ctx.saved_tensors
        slope_q, slope_k, level = _loops(query).backward(query, key, grad.contiguous())
        slope_q.mul_(4 * v)  # [N, T, D]
        slope_k.mul_(4 * v[:, None])  # [N, D, S]
        return slope_q, slope_k.transpose(1, 2), grad.sum() - 2 * level


class TorchLoops:
    """What `NativeLoops` does, in torch's operations: any device and dtype, tile by tile."""

    def scores(self, query: Tensor, key: Tensor, v: Tensor) -> Tensor:
        """`[N, T, D]`, `[N, D, S]`, `[D]` -> `[N, T, S]`."""
        scores = query.new_empty(*query.shape[:2], key.shape[2])
        for n, t in _tiles(query, key):
            scores[n, t] = v @ _ratio(query[n, t], key[n])
        return scores.mul_(-2).add_(v.sum())

    def backward(self, query: Tensor, key: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """`[N, T, D]`, `[N, D, S]`, `[N, T, S]` -> slopes of query and key, each in its shape, and the level `[D]`."""
        slope_q, slope_k = torch.empty_like(query), torch.zeros_like(key)
        level = query.new_zeros(query.shape[2])
        for n, t in _tiles(query, key):
            r = _ratio(query[n, t], key[n])
            h = r * grad[n, t, None, :]
            level += h.sum((0, 1, 3))
            slope = h.addcmul_(h, r, value=-1)
            slope_q[n, t] = slope.sum(3)
            slope_k[n] += slope.sum(1)
        return slope_q, slope_k, level


def _ratio(query: Tensor, key: Tensor) -> Tensor:
    """`r = 1 / (1 + Q K)`: `[n, t, D]`, `[n, D, S]` -> `[n, t, D, S]`."""
    return (query[..., None] * key[:, None]).add_(1).reciprocal_()


def _tiles(query: Tensor, key: Tensor) -> Iterator[tuple[slice, slice]]:
    """Pieces of the batch and of the queries whose `[n, t, D, S]` is about `_TILE` elements, or one query's."""
    batch, queries, dim = query.shape
    pair = max(1, dim * key.shape[2])
    t = min(queries, max(1, _TILE // pair))
    n = max(1, _TILE // (t * pair))
    for first in range(0, batch, n):
        for start in range(0, queries, t):
            yield slice(first, first + n), slice(start, start + t)


def _loops(tensor: Tensor) -> NativeLoops | TorchLoops:
    return native_loops(tensor) or TorchLoops()
