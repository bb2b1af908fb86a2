"""The additive score without a `[B, T, S, D]` tensor, and without a `tanh` for each of its elements.

    e[t, s] = Σ_d v[d] tanh(q[t, d] + k[s, d])

Since `tanh x = 1 - 2 / (1 + e^2x)` and `e^2(q+k) = e^2q e^2k`, the exponentials are taken of queries and keys before
they meet, `(T + S) D` of them. What is left for each of the `T S D` pairs is one product, one division, one sum:

    e[t, s] = Σ_d v[d] (1 - 2 / (1 + Q[t, d] K[s, d])),    Q = e^2q,  K = e^2k

The error is that of rounding numbers near 1: about 1e-7 Σ|v| in float32, whatever the size of the score. Softmax asks
for no more; a score that is itself tiny has fewer correct digits than by `tanh`.

Letters: `B` batch (any leading dimensions), `N` the batch as one dimension, `T` queries, `S` keys, `D` dim.
"""

import math

import torch
from torch import Tensor

from saccade.attention._checks import expect_same_kind
from saccade.runtime.kernel_conditions import is_eager, is_plain
from saccade.runtime.kernels import additive

# Numbers beyond these are clamped: e^2x, its inverse, and a gradient divided by either stay normal numbers. tanh is
# long flat there, so that shows only where a query and a key of opposite signs both come near.
_LIMITS = {torch.float32: 40.0, torch.float64: 340.0}


def plain_additive_scores(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    """The formula as it stands, `[B, T, S, D]` tensor and all; what the fast path is held to."""
    return torch.tanh(query[..., :, None, :] + key[..., None, :, :]) @ v


def exp2x(x: Tensor) -> Tensor:
    """`e^2x` of projected queries or keys, for `additive_scores`: `[B, S, D]` -> `[B, S, D]`."""
    if x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()  # their exponent or precision is too small for e^2x
    limit = _LIMITS[x.dtype]
    return (2 * x.clamp(-limit, limit)).exp()


def exp2x_keys(x: Tensor) -> Tensor:
    """`exp2x` of keys, laid out in memory as the loops want them, so that no call has to do it again."""
    return exp2x(x.transpose(-1, -2).contiguous()).transpose(-1, -2)


def expect_size(key: Tensor, dim: int) -> None:
    """Raise unless prepared keys, which come from a memory, are of this size."""
    if key.shape[-1] != dim:
        raise ValueError(
            f"key: found size {key.shape[-1]} in shape {list(key.shape)}, wanted {dim}; a memory is for the score that"
            " made it, in remember(..., score=score)"
        )


def additive_scores(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    """`[B, T, D]` from `exp2x`, `[B, S, D]` from `exp2x_keys`, and `[D]` -> scores `[B, T, S]`."""
    expect_same_kind("key", key, like=("query", query))
    expect_size(key, query.shape[-1])
    v = v.to(query)
    if not (is_eager() and is_plain(query) and is_plain(key) and is_plain(v)):
        return traceable_additive_scores(query, key, v)
    *batch, queries, dim = query.shape
    keys = key.shape[-2]
    # no -1, which would be any number where there are no queries, or no keys
    query, key = query.reshape(math.prod(batch), queries, dim), key.reshape(math.prod(key.shape[:-2]), keys, dim)
    return additive.additive_scores(query, key.transpose(1, 2), v).reshape(*batch, queries, keys)


def traceable_additive_scores(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    """The same in operations that torch can trace, map and differentiate in any way, on any device."""
    # from the logarithms, not from 1 / (1 + Q K), whose gradient would pass through numbers of the size of K
    return plain_additive_scores(query.log() / 2, key.log() / 2, v)
