"""What attention takes, carries on and gives: precomputed keys and values, states, outputs.

Letters: `B` batch (any leading dimensions, heads among them), `T` queries, `S` keys, `D` and `V` sizes of a key and a
value.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from saccade.attention._checks import expect_instance, expect_items, expect_mask, expect_pairs
from saccade.attention.masks import last_visible
from saccade.attention.scores.score import Score
from saccade.attention.weightings.choice import Choice


class Memory(NamedTuple):
    """Keys and values that can be attended to, precomputed once for all queries: the key/value cache."""

    key: Tensor  # [B, S, D], precomputed by a score
    value: Tensor  # [B, S, V]
    mask: Tensor | None = None  # [B, 1, S], the keys that are real
    last: Tensor | None = None  # [B, 1], the last of them, for those who cannot look through all of a mask each time

    def select(self, index: Tensor) -> "Memory":
        """The memory of the sequences `index` `[b]` of the batch, in that order, as a beam search wants it."""
        mask, last = (None if part is None else part.index_select(0, index) for part in (self.mask, self.last))
        return Memory(self.key.index_select(0, index), self.value.index_select(0, index), mask, last)


class State(NamedTuple):
    """What a score and a weighting carry on from one query to the next. None where they have no state."""

    score: Tensor | None = None  # [B, S], past weights or coverage, or [B, S, N], what a GRU remembers of them
    weighting: Tensor | None = None  # [B, ...], the last weights or the number of queries so far

    def select(self, index: Tensor) -> "State":
        """The state of the sequences `index` `[b]` of the batch, in that order, as a beam search wants it."""
        return State(*(None if part is None else part.index_select(0, index) for part in self))


class AttentionOutput(NamedTuple):
    """What attention gives."""

    context: Tensor  # [B, T, V]
    weights: Tensor | None  # [B, T, S], if they were asked for
    state: State  # for the call with the next queries
    choice: Choice | None = None  # the draws of hard attention, for its extra loss


def remember(
    key: Tensor,
    value: Tensor | None = None,
    *,
    score: Score,
    mask: Tensor | None = None,
    before: Memory | None = None,
) -> Memory:
    """Precompute keys and values for any number of `recall`s, which attend to them; after those of `before`, if any.

    `mask` `[B, 1, S]`, as `padding_mask` gives it, says which of the keys are real. What the others say does not
    matter, not even if it is infinite or no number.
    """
    value = key if value is None else value
    expect_pairs(key, value)
    if mask is not None:
        expect_mask(mask, torch.Size((*key.shape[:-2], 1, key.shape[-2])))
        key, value = zero_masked(key, value, mask)
    return prepare(key, value, score=score, mask=mask, before=before)


def zero_masked(key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Keys and values with zeros where no query may attend, by a mask that broadcasts to `[B, T, S]`.

    Padding may hold anything, and a weight of zero does not undo that: 0 · inf is NaN, forward in a sum and backward in
    a product.
    """
    mask = torch.atleast_2d(mask)
    seen = mask if mask.shape[-2] == 1 else mask.any(-2, keepdim=True)
    hidden = ~seen.transpose(-1, -2)  # [B, S, 1]
    cleared = key.masked_fill(hidden, 0.0)
    return cleared, cleared if value is key else value.masked_fill(hidden, 0.0)


def prepare(key: Tensor, value: Tensor, *, score: Score, mask: Tensor | None, before: Memory | None) -> Memory:
    """`remember` for keys and values that are finite wherever a mask hides them."""
    expect_instance("score", score, Score, example="ScaledDot()")
    expect_pairs(key, value)
    last = None
    if mask is not None:
        expect_mask(mask, torch.Size((*key.shape[:-2], 1, key.shape[-2])))
        last = _last_of(mask).expand(*key.shape[:-2], 1)
        mask = mask.expand(*key.shape[:-2], 1, key.shape[-2])
    start = 0 if before is None else before.key.shape[-2]
    new = Memory(score.keys(key, start=start), value, mask, last)
    return new if before is None else _append(before, new)


def _append(before: Memory, new: Memory) -> Memory:
    expect_items("key", new.key, like=("memory before", before.key))
    mask = None
    if before.mask is not None or new.mask is not None:
        mask = torch.cat([_known_mask(before), _known_mask(new)], dim=-1)
    key, value = torch.cat((before.key, new.key), dim=-2), torch.cat((before.value, new.value), dim=-2)
    return Memory(key, value, mask, None if mask is None else _last_of(mask))


def _last_of(mask: Tensor) -> Tensor:
    return last_visible(mask, mask.shape[-1], device=mask.device)


def _known_mask(memory: Memory) -> Tensor:
    *batch, keys, _ = memory.key.shape
    return memory.key.new_ones(*batch, 1, keys, dtype=torch.bool) if memory.mask is None else memory.mask
