"""Scores of additive attention from exponentials, without a `[N, T, S, D]` tensor: `additive.c` as operators.

    e[n, t, s] = Σ_d v[d] (1 - 2 r),    r = 1 / (1 + Q[n, t, d] K[n, d, s])

and backward, with the gradient g of e, by ∂r/∂Q = -K r² = -(r - r²) / Q:

    ∂Q[n, t, d] = 2 v[d] Σ_s g (r - r²) / Q,    ∂K alike,    ∂v[d] = Σ g - 2 Σ g r

Letters: `N` batch, `T` queries, `S` keys, `D` dim.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from saccade.runtime.native import KERNELS, call, library_for, load_library
from saccade.runtime.operators import define, expect, expect_numbers, expect_one_gradient, first_order_only

SOURCE = KERNELS / "additive.c"

# Elements of a [T, S, D] tile in torch's operations: small enough to stay in a processor's cache from step to step.
_TILE = 1 << 17


def additive_backend() -> str:
    """What computes additive scores on this machine's CPU, and why: "native: ..." or "torch: ..."."""
    library = load_library(SOURCE, "float")
    return f"{'torch' if library.functions is None else 'native'}: {library.reason}"


def _scores(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    batch, queries, dim = _expect_sizes(query, key)
    expect(v.shape == (dim,), f"v: found shape {list(v.shape)}, wanted [{dim}]")
    expect_numbers("query", query, key=key, v=v)
    query, key, v = query.contiguous(), key.contiguous(), v.contiguous()
    library = library_for(SOURCE, query, key, v)
    if library is None:
        return torch_scores(query, key, v)
    scores = query.new_empty(batch, queries, key.shape[2])
    call(library.additive_scores, (query, key, v, scores), batch, queries, key.shape[2], dim)
    return scores


def _backward_sums(query: Tensor, key: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    batch, queries, dim = _expect_sizes(query, key)
    keys = key.shape[2]
    wanted = [batch, queries, keys]
    expect(list(grad.shape) == wanted, f"grad: found shape {list(grad.shape)}, wanted {wanted}")
    expect_numbers("query", query, key=key, grad=grad)
    query, key, grad = query.contiguous(), key.contiguous(), grad.contiguous()
    library = library_for(SOURCE, query, key, grad)
    if library is None:
        return torch_backward(query, key, grad)
    slope_q, slope_k, level = torch.empty_like(query), torch.empty_like(key), query.new_empty(batch, dim)
    call(library.additive_backward, (query, key, grad, slope_q, slope_k, level), batch, queries, keys, dim)
    return slope_q, slope_k, level.sum(0)


def _expect_sizes(query: Tensor, key: Tensor) -> tuple[int, int, int]:
    expect(query.dim() == 3, f"query: found shape {list(query.shape)}, wanted [batch, queries, dim]")
    batch, queries, dim = query.shape
    expect(
        key.dim() == 3 and tuple(key.shape[:2]) == (batch, dim),
        f"key: found shape {list(key.shape)}, wanted [{batch}, {dim}, keys]",
    )
    return batch, queries, dim


def _keep(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    query, key, v = ctx.saved_tensors
    expect_one_gradient("additive attention", grad)
    with torch.no_grad():
        slope_q, slope_k, level = additive_backward(query, key, grad)
        double = 2 * v
        grad_q = slope_q.mul_(double).div_(query)  # [N, T, D]
        grad_k = slope_k.mul_(double[:, None]).div_(key)  # [N, D, S]
        grad_v = grad.sum() - 2 * level
    return first_order_only("additive attention", (grad_q, grad_k, grad_v), query, key, v, grad)


# [N, T, D], [N, D, S], [N, T, S] -> Σ_s g (r - r²) [N, T, D], Σ_t g (r - r²) [N, D, S], Σ g r [D]
additive_backward = define(
    "additive_backward(Tensor query, Tensor key, Tensor grad) -> (Tensor, Tensor, Tensor)",
    _backward_sums,
    fake=lambda query, key, grad: (
        torch.empty_like(query, memory_format=torch.contiguous_format),
        torch.empty_like(key, memory_format=torch.contiguous_format),
        query.new_empty(query.shape[2]),
    ),
)

# Q [N, T, D], K [N, D, S], v [D] -> [N, T, S]
additive_scores = define(
    "additive_scores(Tensor query, Tensor key, Tensor v) -> Tensor",
    _scores,
    fake=lambda query, key, v: query.new_empty(*query.shape[:2], key.shape[2]),
    setup=_keep,
    backward=_backward,
)


def torch_scores(query: Tensor, key: Tensor, v: Tensor) -> Tensor:
    """The loops of `additive.c` in torch's operations, for any device and dtype, tile by tile."""
    scores = query.new_empty(*query.shape[:2], key.shape[2])
    for n, t in _tiles(query, key):
        scores[n, t] = v @ _ratio(query[n, t], key[n])
    return scores.mul_(-2).add_(v.sum())


def torch_backward(query: Tensor, key: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Those of its backward pass."""
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
    t = max(1, min(queries, _TILE // pair))
    n = max(1, _TILE // (t * pair))
    for first in range(0, batch, n):
        for start in range(0, queries, t):
            yield slice(first, first + n), slice(start, start + t)
