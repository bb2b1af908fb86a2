"""Attention that is in use, and has to look at only some of the keys or values: local windows, and hard attention.

Letters: `B` batch (any leading dimensions), `T` queries, `S` keys, `W` keys in a window, `D` and `V` sizes.
"""

import math

import torch
from torch import Tensor

from saccade.attention.masks import last_visible
from saccade.attention.memory import AttentionOutput, Memory, State
from saccade.attention.scores.score import Score
from saccade.attention.weightings.hard import Hard
from saccade.attention.weightings.weighting import LocalWeighting

# Windows are cut out where all of them together have at most this share of the keys: with 22 keys for a query, from 352
# keys on. There a step of 32 sequences is twice as fast; one of a single sequence takes a fifth longer, up to 700 keys.
LARGEST_SHARE = 1 / 16


def windows_are_small(reach: float, shape: torch.Size | tuple[int, ...]) -> bool:
    """Whether windows that reach so far are worth cutting out, for scores of `shape` `[B, T, S]`."""
    queries, keys = shape[-2:]
    return reach < keys and queries * _window_size(reach) <= keys * LARGEST_SHARE


def attend_to_window(
    query: Tensor,
    queries: Tensor,
    memory: Memory,
    *,
    score: Score,
    weighting: LocalWeighting,
    mask: Tensor | None,
    state: Tensor | None,
) -> AttentionOutput:
    """Scores, weights and context of the keys around each query's centre. Nothing here is as long as the keys.

    query, queries  as they came, and as the score has prepared them
    mask            that of the memory and whatever else hides keys, as one
    """
    keys = memory.key.shape[-2]
    known = memory.last if mask is memory.mask else None
    last = last_visible(mask, keys, device=query.device) if known is None else known
    centre, after = weighting.centres(query, last=last, state=state)  # [B, T]
    where = _around(centre, weighting.window)  # [B, T, W]
    distance = where - centre[..., None]
    visible = (distance.detach().abs() <= weighting.window) & (where >= 0) & (where < keys)
    where = where.clamp(0, keys - 1)
    if mask is not None:
        visible &= mask.expand(*where.shape[:-1], keys).gather(-1, where)
    scores = score.compare(queries[..., None, :], _take(memory.key, where)).squeeze(-2)  # [B, T, W]
    weights = weighting.weigh(scores, distance=distance, visible=visible).to(memory.value.dtype)
    context = (weights[..., None, :] @ _take(memory.value, where)).squeeze(-2)  # [B, T, V]
    return AttentionOutput(context, None, State(weighting=after))


def attend_to_one(scores: Tensor, value: Tensor, *, weighting: Hard, mask: Tensor | None) -> AttentionOutput:
    """The value that each query chooses by its scores `[B, T, S]`: no weights, and no sum over all values."""
    chosen = weighting.choose(scores, mask=mask)  # [B, T, 1]
    context = _take(value, chosen).squeeze(-2)  # [B, T, V]
    if mask is not None:  # there may be nothing to choose
        context = context.masked_fill(~mask.expand(scores.shape).gather(-1, chosen), 0.0)
    return AttentionOutput(context, None, State())


def _window_size(reach: float) -> int:
    return 2 * math.ceil(reach) + 2


def _around(centre: Tensor, reach: float) -> Tensor:
    """The positions of all keys within `reach` of the centres `[B, T]`, and of one or two more: `[B, T, W]`.

    They are in a row, and near an end some of them are beyond it.
    """
    first = centre.detach().floor().long() - math.ceil(reach)
    return first[..., None] + torch.arange(_window_size(reach), device=centre.device)


def _take(items: Tensor, where: Tensor) -> Tensor:
    """The items `[B, S, D]` at the positions `[B, T, W]`: `[B, T, W, D]`."""
    flat = where.flatten(-2)
    taken = items.gather(-2, flat[..., None].expand(*flat.shape, items.shape[-1]))
    return taken.unflatten(-2, where.shape[-2:])
