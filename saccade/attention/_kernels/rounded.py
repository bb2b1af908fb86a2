"""Causal softmax attention with products in bfloat16, for learning from short sequences.

    P = softmax(Q Kᵀ + mask),    O = P V
    ∂V = Pᵀ ∂O,    ∂S = P ∘ (∂P - Σ_s P ∘ ∂P) with ∂P = ∂O Vᵀ,    ∂Q = ∂S K,    ∂K = ∂Sᵀ Q

As in `saccade.runtime.bfloat16`, the factors of products and their results are rounded; the softmax and its derivative
are in float32. The weights are kept for the backward pass: short sequences have few of them, and torch's fused kernel,
which computes them anew, takes several times as long as these products of whole matrices.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from saccade.runtime.bfloat16 import trains_in_bfloat16
from saccade.runtime.kernel_conditions import is_plain
from saccade.runtime.operators import first_order_only

MIN_LENGTH, MAX_LENGTH = 32, 256  # of other lengths torch's kernel is as fast, or needs much less memory


def takes(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether `rounded_causal_attention` is the way: tensors `[B, H, T, D]` in a training in bfloat16."""
    return (
        trains_in_bfloat16()
        and query.shape == key.shape == value.shape
        and MIN_LENGTH <= query.shape[-2] <= MAX_LENGTH
        and query.dtype == key.dtype == value.dtype == torch.float32
        and all(map(is_plain, (query, key, value)))
    )


class Projections(NamedTuple):
    """What makes queries, keys and values of the same rows: `[D, D]` and `[D]` each, or no biases."""

    weights: tuple[Tensor, Tensor, Tensor]
    biases: tuple[Tensor, Tensor, Tensor] | None


def takes_rows(x: Tensor) -> bool:
    """Whether `rounded_self_attention` is the way: rows `[B, T, D]` in a training in bfloat16."""
    return (
        trains_in_bfloat16()
        and x.dim() == 3
        and MIN_LENGTH <= x.shape[1] <= MAX_LENGTH
        and x.dtype == torch.float32
        and is_plain(x)
    )


def rounded_self_attention(x: Tensor, projections: Projections, *, heads: int) -> Tensor:
    """Causal self-attention of several heads with scaled dot products, `[B, T, D]` -> `[B, T, D]` in bfloat16.

    Queries, keys and values come of one product. The scale is a factor of the scores, which are not rounded.
    """
    return _RoundedSelfAttention.apply(x, heads, *projections.weights, *(projections.biases or (None,) * 3))


def rounded_causal_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """`[B, H, T, D]`, thrice -> `[B, H, T, D]`."""
    return _RoundedAttention.apply(query, key, value)


@functools.lru_cache(maxsize=32)
def _hidden(length: int) -> Tensor:
    """What is added to scores `[T, T]`: -∞ for each later key."""
    with torch.inference_mode(mode=False):
        return torch.full((length, length), -math.inf, device="cpu").triu_(1)


class _RoundedAttention(Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        q, k, v = (part.bfloat16().flatten(0, 1) for part in (query, key, value))  # [B · H, T, D]
        context, weights, coarse = _attend(q, k, v, 1.0)
        ctx.save_for_backward(q, k, v, weights, coarse)
        return context.unflatten(0, query.shape[:2]).to(query.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        with torch.no_grad():
            slopes = _slopes(grad.bfloat16().flatten(0, 1), ctx.saved_tensors, 1.0)
            gradients = [one.unflatten(0, grad.shape[:2]).to(grad.dtype) for one in slopes]
        return first_order_only("attention in bfloat16", gradients, grad)


class _RoundedSelfAttention(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, heads: int, *factors: Tensor | None) -> Tensor:
        batch, length, dim = x.shape
        size = dim // heads
        weight, bias = _joined(factors[:3]), _joined(factors[3:])  # [3 D, D], [3 D]
        assert weight is not None
        rows = x.bfloat16().view(-1, dim)
        parts = F.linear(rows, weight, bias).view(batch, length, 3, heads, size)
        q, k, v = parts.permute(2, 0, 3, 1, 4).reshape(3, -1, length, size)  # [3, B · H, T, D / H]
        scale = size**-0.5
        context, weights, coarse = _attend(q, k, v, scale)
        ctx.save_for_backward(rows, weight, q, k, v, weights, coarse)
        ctx.heads, ctx.scale, ctx.has_bias, ctx.dtype = heads, scale, bias is not None, x.dtype
        return context.view(batch, heads, length, size).transpose(1, 2).reshape(batch, length, dim)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        rows, weight, *parts = ctx.saved_tensors
        batch, length, dim = grad.shape
        size = dim // ctx.heads
        with torch.no_grad():
            slope = grad.bfloat16().view(batch, length, ctx.heads, size).transpose(1, 2).reshape(-1, length, size)
            slopes = torch.stack(_slopes(slope, parts, ctx.scale))  # [3, B · H, T, D / H]
            slopes = slopes.view(3, batch, ctx.heads, length, size).permute(1, 3, 0, 2, 4).reshape(-1, 3 * dim)
            grad_x = (slopes @ weight).to(ctx.dtype).view(batch, length, dim)
            grad_weights = (slopes.t() @ rows).to(ctx.dtype).chunk(3)
            grad_biases = slopes.sum(0, dtype=ctx.dtype).chunk(3) if ctx.has_bias else (None,) * 3
        return first_order_only("attention in bfloat16", (grad_x, None, *grad_weights, *grad_biases), grad)


def _joined(parts: Sequence[Tensor | None]) -> Tensor | None:
    """The matrices or biases of queries, keys and values as one, rounded."""
    return torch.cat([one.bfloat16() for one in parts if one is not None]) if parts[0] is not None else None


def _attend(q: Tensor, k: Tensor, v: Tensor, scale: float) -> tuple[Tensor, Tensor, Tensor]:
    """Context `[N, T, D]`, weights `[N, T, T]`, and these rounded."""
    scores = torch.add(_hidden(q.shape[1]), q @ k.transpose(1, 2), alpha=scale)
    weights = torch.softmax(scores, -1, out=scores)
    coarse = weights.bfloat16()
    return coarse @ v, weights, coarse


def _slopes(slope: Tensor, parts: Sequence[Tensor], scale: float) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of queries, keys and values, of that of the context; all in bfloat16, `[N, T, D]`.

    parts  queries, keys and values, the weights and the rounded ones
    """
    q, k, v, weights, coarse = parts
    grad_weights = (slope @ v.transpose(1, 2)).float()
    grad_scores = torch.ops.aten._softmax_backward_data(grad_weights, weights, -1, weights.dtype)  # noqa: SLF001
    if scale != 1.0:
        grad_scores *= scale
    grad_scores = grad_scores.bfloat16()
    return grad_scores @ k, grad_scores.transpose(1, 2) @ q, coarse.transpose(1, 2) @ slope
