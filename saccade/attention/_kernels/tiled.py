"""Softmax attention of any score in tiles: neither all the scores nor all the weights ever stand in memory.

The forward pass keeps a running maximum and a running sum for each query (online softmax, Milakov 2018; Dao 2022).
The backward pass keeps none of its tiles either: it computes each score anew and takes its gradient at once. A second
derivative is refused.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from saccade.runtime.operators import expect_one_gradient, first_order_only

# The scores [B, t, s] of queries [B, t, D] and keys [B, s, E], by the parameters that follow them.
Compare = Callable[..., Tensor]

# Scores in one tile, over the whole batch: 4 MB of float32.
TILE = 1 << 20


def tiled_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Tensor | None,
    compare: Compare,
    parameters: tuple[Tensor, ...],
    tile: int = TILE,
) -> Tensor:
    """`softmax(compare(query, key)) value`: `[B, T, D]`, `[B, S, E]`, `[B, S, V]` -> `[B, T, V]`.

    `compare(query, key, *parameters)` gives the scores of any piece of the queries and any piece of the keys; the
    parameters get their gradients. A row that may look nowhere gives zeros, forward and backward.
    """
    return _TiledAttention.apply(compare, mask, tile, query, key, value, *parameters)


class _TiledAttention(Function):
    @staticmethod
    def forward(
        ctx: Any,
        compare: Compare,
        mask: Tensor | None,
        tile: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *parameters: Tensor,
    ) -> Tensor:
        *batch, queries, _ = query.shape
        keys, value_dim = value.shape[-2:]
        mask = None if mask is None else mask.expand(*batch, queries, keys)
        rows, columns = _tile_shape(math.prod(batch), queries, keys, tile)

        # All sums are kept in the dtype of the scores, which is float32 where the values are of half precision.
        context = query.new_empty(*batch, queries, value_dim)
        # log Σ exp(score) of each query; +inf for one that sees nothing, so that exp(score - log_sum) is zero there
        log_sum = query.new_empty(*batch, queries, 1)
        for t in _pieces(queries, rows):
            highest = query.new_full((*batch, t.stop - t.start, 1), -math.inf)
            total = torch.zeros_like(highest)
            gathered = query.new_zeros(*batch, t.stop - t.start, value_dim)
            for s in _pieces(keys, columns):
                scores = _masked(compare(query[..., t, :], key[..., s, :], *parameters), mask, t, s)
                higher = torch.maximum(highest, scores.amax(-1, keepdim=True))
                anchor = higher.masked_fill(higher == -math.inf, 0.0)
                rescale = (highest - anchor).exp_()
                weights = (scores - anchor).exp_()
                total = total.mul_(rescale).add_(weights.sum(-1, keepdim=True))
                gathered = gathered.mul_(rescale).add_(weights @ value[..., s, :].to(weights.dtype))
                highest = higher
            nothing = total == 0
            context[..., t, :] = gathered.div_(total.masked_fill(nothing, 1.0))
            log_sum[..., t, :] = (highest + total.log()).masked_fill(nothing, math.inf)

        ctx.compare, ctx.rows, ctx.columns = compare, rows, columns
        ctx.save_for_backward(mask, query, key, value, context, log_sum, *parameters)
        return context.to(value.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        _, query, key, value, _, _, *parameters = ctx.saved_tensors
        expect_one_gradient("attention in tiles", grad)
        gradients = _TiledAttention._gradients(ctx, grad)
        return (
            None,
            None,
            None,
            *first_order_only("attention in tiles", gradients, query, key, value, *parameters, grad),
        )

    @staticmethod
    @torch.no_grad()
    def _gradients(ctx: Any, grad: Tensor) -> list[Tensor | None]:
        """Those of queries, keys, values and parameters, tile by tile."""
        mask, query, key, value, context, log_sum, *parameters = ctx.saved_tensors
        grad_query, grad_key, grad_value = map(torch.zeros_like, (query, key, value))
        # not the parameters themselves, whose hooks are for the whole gradient and not for that of a tile
        copies = [parameter.detach().requires_grad_(parameter.requires_grad) for parameter in parameters]
        wanted = [copy for copy in copies if copy.requires_grad]
        grad_wanted = [torch.zeros_like(parameter) for parameter in wanted]

        grad = grad.to(context.dtype)
        level = (grad * context).sum(-1, keepdim=True)  # what softmax takes off each row's gradient
        for t in _pieces(query.shape[-2], ctx.rows):
            query_t, grad_t = query[..., t, :].detach().requires_grad_(), grad[..., t, :]
            for s in _pieces(key.shape[-2], ctx.columns):
                key_s, value_s = key[..., s, :].detach().requires_grad_(), value[..., s, :].to(grad.dtype)
                with torch.enable_grad():
                    scores = ctx.compare(query_t, key_s, *copies)
                weights = (_masked(scores.detach(), mask, t, s) - log_sum[..., t, :]).exp_()
                grad_value[..., s, :] += weights.transpose(-1, -2) @ grad_t
                grad_scores = (grad_t @ value_s.transpose(-1, -2)).sub_(level[..., t, :]).mul_(weights)
                if mask is not None:  # the weight there is 0, but the gradient of a large value may be infinite
                    grad_scores.masked_fill_(~mask[..., t, s], 0.0)
                grads = torch.autograd.grad(scores, (query_t, key_s, *wanted), grad_scores, allow_unused=True)
                for sink, piece in zip((grad_query[..., t, :], grad_key[..., s, :], *grad_wanted), grads, strict=True):
                    if piece is not None:
                        sink.add_(piece)

        by_parameter = iter(grad_wanted)
        grad_parameters = (next(by_parameter) if parameter.requires_grad else None for parameter in parameters)
        return [grad_query, grad_key, grad_value, *grad_parameters]


def _masked(scores: Tensor, mask: Tensor | None, t: slice, s: slice) -> Tensor:
    return scores if mask is None else scores.masked_fill(~mask[..., t, s], -math.inf)


def _tile_shape(batch: int, queries: int, keys: int, tile: int) -> tuple[int, int]:
    """Rows and columns of a tile: whole rows of keys while at least 16 of them fit, shorter ones past that."""
    columns = max(1, min(keys, tile // max(1, batch * min(queries, 16))))
    rows = max(1, min(queries, tile // max(1, batch * columns)))
    return rows, columns


def _pieces(length: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, length)) for start in range(0, length, step))
