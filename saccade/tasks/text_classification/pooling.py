"""From the states of all tokens to one vector.

Letters: `B` batch, `T` tokens, `D` dim.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from saccade.attention import Attention, make_score


class Pooled(NamedTuple):
    """One vector for each text."""

    vector: Tensor  # [B, D]
    weights: Tensor | None  # [B, T], which tokens it is of, if that was asked for and depends on what they are


class MeanPooling(nn.Module):
    """v = Σ_t h_t / T"""

    def forward(self, states: Tensor, mask: Tensor, *, need_weights: bool = False) -> Pooled:
        return Pooled(states.masked_fill(~mask[..., None], 0.0).sum(1) / mask.sum(1, keepdim=True), None)


class LastPooling(nn.Module):
    """v = h_T"""

    def forward(self, states: Tensor, mask: Tensor, *, need_weights: bool = False) -> Pooled:
        return Pooled(states[torch.arange(len(states), device=states.device), mask.sum(1) - 1], None)


class MaxPooling(nn.Module):
    """v_d = max_t h_td. The weight of a token is the share of the numbers of v that it gives; of equals, the first."""

    def forward(self, states: Tensor, mask: Tensor, *, need_weights: bool = False) -> Pooled:
        vector, where = states.masked_fill(~mask[..., None], -torch.inf).max(1)  # [B, D] each
        if not need_weights:
            return Pooled(vector, None)
        count = states.new_zeros(mask.shape).scatter_add_(1, where, torch.ones_like(vector))
        return Pooled(vector, count / vector.shape[-1])


class AttentionPooling(nn.Module):
    """v = Σ_t a_t h_t, a = softmax_t(score(q, h_t)), by one query q that is learnt for all texts (Yang 2016)."""

    def __init__(self, dim: int, *, score: str) -> None:
        super().__init__()
        self.query = nn.Parameter(nn.init.normal_(torch.empty(dim), std=dim**-0.5))
        self.attention = Attention(make_score(score, dim, dim))

    def forward(self, states: Tensor, mask: Tensor, *, need_weights: bool = False) -> Pooled:
        query = self.query.expand(len(states), 1, -1)
        output = self.attention(query, states, mask=mask[:, None], need_weights=need_weights)
        return Pooled(output.context[:, 0], None if output.weights is None else output.weights[:, 0])


def make_pooling(kind: str, dim: int, *, score: str) -> nn.Module:
    """The pooling of that name, of states of that size."""
    if kind == "attention":
        return AttentionPooling(dim, score=score)
    return {"mean": MeanPooling, "last": LastPooling, "max": MaxPooling}[kind]()
