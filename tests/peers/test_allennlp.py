"""Attention as AllenNLP had it: one vector looks at a matrix.

AllenNLP is no longer kept up and holds torch below 1.13, so expected values stand here: its formulas, in numbers that
can be followed by hand.
"""

import math

import torch
from torch import Tensor

from saccade.attention import Additive, Cosine, Dot, General, Score, attend

VECTOR = torch.tensor([[3.0, 4.0]])  # [1, 2]
MATRIX = torch.tensor([[[4.0, 3.0], [-4.0, 3.0], [0.0, 2.0], [0.0, 0.0]]])  # [1, 4, 2]


def similarities(score: Score) -> Tensor:
    return score(VECTOR[:, None], MATRIX)[0, 0]


def looked_at(score: Score, seen: list[int]) -> Tensor:
    """Its attention with a mask of ones and zeros."""
    mask = torch.tensor([[seen]]).bool()
    weights = attend(VECTOR[:, None], MATRIX, score=score, mask=mask, need_weights=True).weights
    assert weights is not None
    return weights[0, 0]


def test_dot_product_attention() -> None:
    torch.testing.assert_close(similarities(Dot()), torch.tensor([24.0, 0.0, 8.0, 0.0]))


def test_cosine_attention() -> None:
    """24/25, 0, 4/5; a vector of zeros has no direction, and is like nothing."""
    torch.testing.assert_close(similarities(Cosine()), torch.tensor([0.96, 0.0, 0.8, 0.0]))


def test_bilinear_attention() -> None:
    """xᵀ W y, the vector on the left: W must not be turned round."""
    score = General(2, 2)
    with torch.no_grad():
        score.weight.copy_(torch.tensor([[0.0, 1.0], [0.5, 0.0]]))
    torch.testing.assert_close(similarities(score), torch.tensor([17.0, 1.0, 6.0, 0.0]))  # 3 · y_2 + 2 · y_1


def test_additive_attention() -> None:
    """vᵀ tanh(W x + U y), with W x = (1, -1) and U y = (y_2, y_1) / 4."""
    score = Additive(2, 2)
    with torch.no_grad():
        score.query_projection.weight.copy_(torch.tensor([[-1.0, 1.0], [1.0, -1.0]]))
        score.key_projection.weight.copy_(torch.tensor([[0.0, 0.25], [0.25, 0.0]]))
        score.v.copy_(torch.tensor([2.0, -1.0]))
    pairs = [(1.75, 0.0), (1.75, -2.0), (1.5, -1.0), (1.0, -1.0)]
    wanted = torch.tensor([2 * math.tanh(first) - math.tanh(second) for first, second in pairs])
    torch.testing.assert_close(similarities(score), wanted, atol=1e-6, rtol=1e-6)


def test_masked_softmax() -> None:
    """Over what is seen only: its sum has 1e-13 more, which shows nowhere but where nothing is seen, as zeros."""
    e = [math.exp(0.96), math.exp(0.0), math.exp(0.8)]
    torch.testing.assert_close(looked_at(Cosine(), [1, 0, 1, 0]), torch.tensor([e[0], 0, e[2], 0]) / (e[0] + e[2]))
    torch.testing.assert_close(looked_at(Cosine(), [0, 1, 0, 1]), torch.tensor([0.0, 0.5, 0.0, 0.5]))
    assert looked_at(Cosine(), [0, 0, 0, 0]).tolist() == [0.0, 0.0, 0.0, 0.0]
