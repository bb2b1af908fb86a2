"""Poolings against what their formulas say, text by text."""

from typing import Any

import pytest
import torch
from torch import Tensor

from saccade.attention import QUERY_SCORES
from saccade.tasks.text_classification.pooling import AttentionPooling, make_pooling

LENGTHS = (5, 1, 3)


def states_and_mask() -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    mask = torch.arange(5) < torch.tensor(LENGTHS)[:, None]
    states = torch.randn(3, 5, 7)
    states[~mask] = torch.nan  # nothing of what is there may be seen
    return states, mask


def by_hand(kind: str, real: Tensor) -> Tensor:
    """Of the states `[T, D]` of one text."""
    return {"mean": real.mean(0), "last": real[-1], "max": real.max(0).values}[kind]


@pytest.mark.parametrize("kind", ["mean", "last", "max"])
def test_plain_poolings(kind: str) -> None:
    states, mask = states_and_mask()
    pooled = make_pooling(kind, 7, score="dot")(states, mask, need_weights=True)
    wanted = torch.stack([by_hand(kind, row[:length]) for row, length in zip(states, LENGTHS, strict=True)])
    torch.testing.assert_close(pooled.vector, wanted)
    assert (pooled.weights is not None) == (kind == "max")


def test_the_weights_of_a_maximum_are_the_shares_of_its_numbers() -> None:
    states = torch.tensor([[[1.0, 9.0, 2.0, 8.0], [5.0, 0.0, 3.0, 0.0], [9.9, 9.9, 9.9, 9.9]]])
    mask = torch.tensor([[True, True, False]])
    pooling = make_pooling("max", 4, score="dot")
    assert pooling(states, mask, need_weights=True).weights.tolist() == [[0.5, 0.5, 0.0]]
    assert pooling(states, mask).weights is None


def test_attention_against_the_formula() -> None:
    states, mask = states_and_mask()
    pooling = AttentionPooling(7, score="dot")
    pooled = pooling(states, mask, need_weights=True)
    assert pooled.weights is not None
    for row, length in enumerate(LENGTHS):
        real = states[row, :length]
        weights = (real @ pooling.query).softmax(0)
        torch.testing.assert_close(pooled.weights[row, :length], weights)
        torch.testing.assert_close(pooled.vector[row], weights @ real)
        assert not pooled.weights[row, length:].any()


@pytest.mark.parametrize("score", list(QUERY_SCORES))
def test_attention_by_any_score(score: str) -> None:
    states, mask = states_and_mask()
    pooling: Any = make_pooling("attention", 7, score=score)
    together = pooling(states, mask, need_weights=True)
    torch.testing.assert_close(together.weights.sum(1), torch.ones(3))
    for row, length in enumerate(LENGTHS):
        alone = pooling(states[row : row + 1, :length], mask[row : row + 1, :length])
        torch.testing.assert_close(together.vector[row : row + 1], alone.vector)
