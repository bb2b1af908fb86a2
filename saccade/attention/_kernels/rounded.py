"""Causal softmax attention with products in bfloat16, for learning from short sequences.

    P = softmax(Q Kᵀ + mask),    O = P V
    ∂V = Pᵀ ∂O,    ∂S = P ∘ (∂P - Σ_s P ∘ ∂P) with ∂P = ∂O Vᵀ,    ∂Q = ∂S K,    ∂K = ∂Sᵀ Q

As in `saccade.runtime.bfloat16`, the factors of products and their results are rounded; the softmax and its derivative
are in float32. The weights are kept for the backward pass: short sequences have few of them, and torch's fused kernel,
which computes them anew, takes several times as long as these products of whole matrices.
"""

import functools
import math
from typing import Any

import torch
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
        scores = (q @ k.transpose(1, 2)).float().add_(_hidden(q.shape[1]))
        weights = torch.softmax(scores, -1, out=scores)  # [B · H, T, T]
        coarse = weights.bfloat16()
        ctx.save_for_backward(q, k, v, weights, coarse)
        return (coarse @ v).unflatten(0, query.shape[:2]).to(query.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        q, k, v, weights, coarse = ctx.saved_tensors
        with torch.no_grad():
            slope = grad.bfloat16().flatten(0, 1)
            grad_weights = (slope @ v.transpose(1, 2)).float()
            grad_scores = torch.ops.aten._softmax_backward_data(grad_weights, weights, -1, weights.dtype)  # noqa: SLF001
            grad_scores = grad_scores.bfloat16()
            found = grad_scores @ k, grad_scores.transpose(1, 2) @ q, coarse.transpose(1, 2) @ slope
            gradients = [one.unflatten(0, grad.shape[:2]).to(grad.dtype) for one in found]
        return first_order_only("attention in bfloat16", gradients, grad)
