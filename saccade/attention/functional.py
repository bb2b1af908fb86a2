"""Attention itself, as functions, and the way that it is computed.

Letters: `B` batch (any leading dimensions, heads among them), `T` queries, `S` keys, `D` and `V` sizes of a key and a
value. Masks are boolean, **True means "may look"**, and broadcast to `[B, T, S]`. A query that may look nowhere gets
zeros, forward and backward.
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call

from saccade.attention._checks import (
    expect_fraction,
    expect_instance,
    expect_items,
    expect_mask,
    expect_one_size,
    expect_pairs,
    expect_same_kind,
)
from saccade.attention._kernels.fused import fused_attention
from saccade.attention._kernels.tiled import TILE, tiled_attention
from saccade.attention._past import pad_past
from saccade.attention._selected import attend_to_one, attend_to_window, windows_are_small
from saccade.attention.masks import causal_mask, join_masks
from saccade.attention.memory import AttentionOutput, Memory, State, prepare, zero_masked
from saccade.attention.scores.score import Score, StatefulScore
from saccade.attention.weightings.choice import Choice
from saccade.attention.weightings.hard import Hard
from saccade.attention.weightings.soft import Soft
from saccade.attention.weightings.weighting import LocalWeighting, Weighting, WeightingOutput, WindowedSoftmax
from saccade.runtime.kernel_conditions import is_eager, is_transformed

Path = Literal["fused", "tiled", "windowed", "gathered", "plain", "stepwise"]


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    *,
    score: Score,
    weighting: Weighting | None = None,
    mask: Tensor | None = None,
    causal: bool = False,
    state: State | None = None,
    need_weights: bool = False,
    dropout: float = 0.0,
) -> AttentionOutput:
    """Attend from each query to the keys, and sum the values: `[B, T, Dq]`, `[B, S, Dk]`, `[B, S, V]` -> `[B, T, V]`.

        context[t] = Σ_s weights[t, s] value[s],    weights[t] = weighting(score(query[t], key[s]) over s)

    `value` is `key` if it is not given, `weighting` is `Soft()`. The other arguments are those of `recall`. For queries
    that come one by one, precompute keys and values with `remember` once, and attend to them with `recall` for each.

    Keys that `mask` hides from all queries of their sequence may hold anything, even what is infinite or no number. For
    the fused path, which copies nothing, they and their products must be finite; or else give the mask to `remember`.
    """
    value = key if value is None else value
    expect_items("query", query)
    expect_items("key", key, like=("query", query))
    expect_pairs(key, value)
    if query.is_meta or not torch.is_autocast_enabled(query.device.type):
        expect_same_kind("key", key, like=("query", query))
        expect_same_kind("value", value, like=("key", key))
    if mask is not None:
        shape = torch.Size((*query.shape[:-1], key.shape[-2]))
        expect_mask(mask, shape)
        if attention_path(score, weighting, shape=shape, need_weights=need_weights) != "fused":
            key, value = zero_masked(key, value, mask)
    return recall(
        query,
        prepare(key, value, score=score, mask=None, before=None),
        score=score,
        weighting=weighting,
        mask=mask,
        causal=causal,
        state=state,
        need_weights=need_weights,
        dropout=dropout,
    )


def recall(
    query: Tensor,
    memory: Memory,
    *,
    score: Score,
    weighting: Weighting | None = None,
    mask: Tensor | None = None,
    causal: bool = False,
    state: State | None = None,
    need_weights: bool = False,
    dropout: float = 0.0,
) -> AttentionOutput:
    """Attend from each query to precomputed keys and values: `[B, T, Dq]` -> context `[B, T, V]`.

    mask          which keys each query may attend to, besides the memory's own mask
    causal        no query attends to a later key; the last query stands at the last key (bottom right)
    state         what came out of the call with the queries before these; there may be more keys by now
    need_weights  return the weights, too; without them the fast paths are open (`attention_path`)
    dropout       the probability that a key is dropped for a query: a random mask (DropKey, Li 2023) that leaves it
                  at least one, so that the weights sum to what they summed to. Dropping weights after the softmax
                  would shut torch's fused kernel out.
    """
    weighting = Soft() if weighting is None else weighting
    state = State() if state is None else state
    expect_instance("memory", memory, Memory, example="what remember(key, value, score=score) gives")
    expect_items("query", query, like=("memory", memory.key))
    shape = torch.Size((*query.shape[:-1], memory.key.shape[-2]))  # of the scores, [B, T, S]
    path = attention_path(score, weighting, shape=shape, need_weights=need_weights)
    if mask is not None:
        expect_mask(mask, shape)
    expect_fraction("dropout", dropout)
    path = "plain" if dropout and path in ("windowed", "gathered") else path
    queries = score.queries(query)
    if score.is_dot_product:
        expect_one_size(queries, memory.key)
    if 0 in shape:
        return _empty_output(memory.value, shape, state, need_weights=need_weights)

    mask = join_masks(mask, memory.mask)
    # torch's kernel knows a causal mask by itself, and then computes half of the scores
    causal_by_kernel = path == "fused" and isinstance(weighting, Soft) and mask is None and shape[-1] == shape[-2]
    if causal and (dropout or not causal_by_kernel):
        mask, causal = join_masks(mask, causal_mask(shape[-2], shape[-1], device=query.device)), False

    if path in ("fused", "tiled"):
        assert isinstance(weighting, WindowedSoftmax)
        mask, last = weighting.narrow(mask, shape=shape, device=query.device, state=state.weighting)
        if dropout:
            mask = join_masks(mask, _drop_keys(shape, dropout, mask, query.device))
        if path == "fused":
            context = fused_attention(queries, memory.key, memory.value, mask=mask, causal=causal)
        else:
            context = _tiled(score, queries, memory, mask)
        return AttentionOutput(context, None, State(weighting=last))

    if path == "windowed":
        assert isinstance(weighting, LocalWeighting)
        past = state.weighting
        return attend_to_window(query, queries, memory, score=score, weighting=weighting, mask=mask, state=past)
    if path == "gathered":
        assert isinstance(weighting, Hard)
        return attend_to_one(score.compare(queries, memory.key), memory.value, weighting=weighting, mask=mask)

    keep = _drop_keys(shape, dropout, mask, query.device) if dropout else None
    if path == "plain":
        scores = _mask_dropped(score.compare(queries, memory.key), keep)
        output, past = weighting(scores, mask=mask, query=query, state=state.weighting), None
    else:
        assert isinstance(score, StatefulScore)
        output, past = _step_by_step(query, queries, memory.key, score, weighting, mask, keep, state)
    weights = output.weights.to(memory.value.dtype)  # scores of half precision may have been compared in float32
    context = weights @ memory.value
    return AttentionOutput(context, weights if need_weights else None, State(past, output.state), output.choice)


def attention_path(
    score: Score,
    weighting: Weighting | None = None,
    *,
    shape: torch.Size | tuple[int, ...],
    need_weights: bool = False,
) -> Path:
    """How `recall` computes scores of `shape` `[B, T, S]`.

    fused     one call of torch's fused kernel: dot products under a softmax, when nobody asks for the weights
    tiled     online softmax over tiles: any other score under a softmax, when the scores are too many for one tile
    windowed  scores, weights and context of a local window alone, in use (`eval`) and when nobody asks for the weights
    gathered  all scores, then the value of the one key that is chosen: hard attention in use, likewise
    plain     all scores, all weights, then the context
    stepwise  query after query, because the score has a state, made of earlier weights
    """
    weighting = Soft() if weighting is None else weighting
    expect_instance("score", score, Score, example="ScaledDot()")
    expect_instance("weighting", weighting, Weighting, example="Soft()")
    if isinstance(score, StatefulScore):
        return "stepwise"
    if not need_weights and not weighting.training:
        if isinstance(weighting, Hard):
            return "gathered"
        if isinstance(weighting, LocalWeighting) and is_eager() and windows_are_small(weighting.window, shape):
            return "windowed"
    if need_weights or not isinstance(weighting, WindowedSoftmax):
        return "plain"
    if score.is_dot_product:
        return "plain" if is_transformed() else "fused"
    # in tiles only what is computed here and now: whoever compiles or maps wants operations that can be traced
    return "tiled" if is_eager() and math.prod(shape) > TILE else "plain"


class _Comparison(nn.Module):
    """`score.compare` as a module's `forward`, so that it can be called with given parameters."""

    def __init__(self, score: Score) -> None:
        super().__init__()
        self.score = score

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.score.compare(queries, keys)


def _tiled(score: Score, queries: Tensor, memory: Memory, mask: Tensor | None) -> Tensor:
    comparison = _Comparison(score)
    names, parameters = [], []
    for name, parameter in comparison.named_parameters():
        names.append(name)
        parameters.append(parameter)

    def compare(queries: Tensor, keys: Tensor, *parameters: Tensor) -> Tensor:
        # not the module's parameters of the moment: the backward pass wants those of its forward pass
        return functional_call(comparison, dict(zip(names, parameters, strict=True)), (queries, keys))

    return tiled_attention(queries, memory.key, memory.value, mask=mask, compare=compare, parameters=tuple(parameters))


def _step_by_step(
    query: Tensor,
    queries: Tensor,
    keys: Tensor,
    score: StatefulScore,
    weighting: Weighting,
    mask: Tensor | None,
    keep: Tensor | None,
    state: State,
) -> tuple[WeightingOutput, Tensor]:
    """The weights of all queries, one after the other, and the score's state after the last."""
    past, last, batch = state.score, state.weighting, keys.dim() - 2
    past = score.initial_state(keys) if past is None else pad_past(past, keys.shape[-2], batch=batch)
    steps: list[WeightingOutput] = []
    for t in range(query.shape[-2]):
        here = slice(t, t + 1)
        mask_now = mask if mask is None or mask.dim() < 2 or mask.shape[-2] == 1 else mask[..., here, :]
        scores = score.compare(queries[..., here, :], score.condition_keys(keys, past))
        scores = _mask_dropped(scores, None if keep is None else keep[..., here, :])
        step = weighting(scores, mask=mask_now, query=query[..., here, :], state=last)
        visible = mask_now if mask_now is None or mask_now.dim() < 2 else mask_now.squeeze(-2)
        past, last = score.update_state(past, step.weights.squeeze(-2), visible=visible), step.state
        steps.append(step)
    choices = [step.choice for step in steps if step.choice is not None]
    choice = Choice(*(torch.cat(parts, dim=-1) for parts in zip(*choices, strict=True))) if choices else None
    return WeightingOutput(torch.cat([step.weights for step in steps], dim=-2), last, choice), past


def _drop_keys(shape: torch.Size, dropout: float, mask: Tensor | None, device: torch.device) -> Tensor:
    """Which keys dropout keeps for each query, `[B, T, S]`; all of them, if it would have dropped all."""
    keep = torch.rand(shape, device=device) >= dropout
    left = keep if mask is None else keep & mask
    return keep | ~left.any(-1, keepdim=True)


def _mask_dropped(scores: Tensor, keep: Tensor | None) -> Tensor:
    """Scores too low to count for keys that were dropped, which leaves the mask as it is for the weighting.

    Half of the lowest number: still above what a weighting gives to masked keys.
    """
    return scores if keep is None else scores.masked_fill(~keep, torch.finfo(scores.dtype).min / 2)


def _empty_output(value: Tensor, shape: torch.Size, state: State, *, need_weights: bool) -> AttentionOutput:
    """No queries, or no keys: an empty context, or one of zeros."""
    context = value.new_zeros(*shape[:-1], value.shape[-1])
    return AttentionOutput(context, value.new_zeros(shape) if need_weights else None, state)
