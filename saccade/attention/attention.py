"""The general attention layer."""

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_fraction, expect_instance, expect_items, expect_mask, expect_pairs
from saccade.attention.functional import attention_path, recall
from saccade.attention.memory import AttentionOutput, Memory, State, prepare, zero_masked
from saccade.attention.scores.score import Score
from saccade.attention.weightings.soft import Soft
from saccade.attention.weightings.weighting import Weighting


class Attention(nn.Module):
    """A score, a weighting, and projections if they are wanted: `attend` as a layer.

    `[B, T, Dq]`, `[B, S, Dk]`, `[B, S, V]` -> context `[B, T, V]`. Each projection is any module from `[B, items, in]`
    to `[B, items, out]`, and the score then sees what comes out of it. `weighting` is `Soft()` unless given. `dropout`
    acts in training only; `recall` says how.

    The layer keeps nothing between calls. For queries that come one by one:

        memory = attention.remember(key, value, mask=padding_mask(lengths))
        output = attention.recall(query, memory, state=output.state)
    """

    def __init__(
        self,
        score: Score,
        weighting: Weighting | None = None,
        *,
        query_projection: nn.Module | None = None,
        key_projection: nn.Module | None = None,
        value_projection: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        weighting = Soft() if weighting is None else weighting
        expect_instance("score", score, Score, example="ScaledDot()")
        expect_instance("weighting", weighting, Weighting, example="Soft()")
        expect_fraction("dropout", dropout)
        self.score = score
        self.weighting = weighting
        self.query_projection = nn.Identity() if query_projection is None else query_projection
        self.key_projection = nn.Identity() if key_projection is None else key_projection
        self.value_projection = nn.Identity() if value_projection is None else value_projection
        self.dropout = dropout

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        state: State | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """As `attend`."""
        value = key if value is None else value
        if mask is not None:
            expect_items("query", query)
            expect_items("key", key, like=("query", query))
            expect_pairs(key, value)
            shape = torch.Size((*query.shape[:-1], key.shape[-2]))
            expect_mask(mask, shape)
            if attention_path(self.score, self.weighting, shape=shape, need_weights=need_weights) != "fused":
                key, value = zero_masked(key, value, mask)
        memory = self._prepare(key, value)
        return self.recall(query, memory, mask=mask, causal=causal, state=state, need_weights=need_weights)

    def remember(
        self, key: Tensor, value: Tensor | None = None, *, mask: Tensor | None = None, before: Memory | None = None
    ) -> Memory:
        """As the function `remember`: project and precompute keys and values once."""
        value = key if value is None else value
        if mask is not None:
            expect_pairs(key, value)
            expect_mask(mask, torch.Size((*key.shape[:-2], 1, key.shape[-2])))
            key, value = zero_masked(key, value, mask)  # before the projections, which could go beyond all numbers
        return self._prepare(key, value, mask=mask, before=before)

    def _prepare(
        self, key: Tensor, value: Tensor, *, mask: Tensor | None = None, before: Memory | None = None
    ) -> Memory:
        key, value = self.key_projection(key), self.value_projection(value)
        return prepare(key, value, score=self.score, mask=mask, before=before)

    def recall(
        self,
        query: Tensor,
        memory: Memory,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        state: State | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """As the function `recall`: look with each query at what was remembered."""
        return recall(
            self.query_projection(query),
            memory,
            score=self.score,
            weighting=self.weighting,
            mask=mask,
            causal=causal,
            state=state,
            need_weights=need_weights,
            dropout=self.dropout if self.training else 0.0,
        )
