"""Attention as Keras and TensorFlow Addons have it.

They bring TensorFlow along, so expected values stand here: their documented formulas, over numbers small enough to be
followed by hand.
"""

import math

import pytest
import torch
from torch import Tensor, nn

from saccade.attention import Additive, Dot, General, Monotonic, Score, attend

# softmax of two scores that are 1 apart
MORE, LESS = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1))

QUERY = torch.tensor([[[0.0, 1.0], [2.0, -1.0], [0.0, 0.0]]])  # [1, 3, 2]
KEY = torch.tensor([[[1.0, 1.0], [1.0, 2.0]]])  # [1, 2, 2]
VALUE = torch.tensor([[[10.0, 0.0, 1.0], [20.0, 5.0, 1.0]]])  # [1, 2, 3]


def additive(*v: float) -> Additive:
    """Keras's AdditiveAttention has no projections, and calls v its scale."""
    score = Additive(len(v), len(v))
    with torch.no_grad():
        nn.init.eye_(score.query_projection.weight)
        nn.init.eye_(score.key_projection.weight)
        score.v.copy_(torch.tensor(v))
    return score


def weights_of(query: Tensor, key: Tensor, score: Score, mask: Tensor | None = None) -> Tensor:
    weights = attend(query, key, score=score, mask=mask, need_weights=True).weights
    assert weights is not None
    return weights


def test_keras_attention_is_an_unscaled_dot_product() -> None:
    """Scores [1, 2], [1, 0] and [0, 0]: not divided by √2."""
    found = attend(QUERY, KEY, VALUE, score=Dot(), need_weights=True)
    wanted = torch.tensor([[[LESS, MORE], [MORE, LESS], [0.5, 0.5]]])
    torch.testing.assert_close(found.weights, wanted)
    ends = [10 * LESS + 20 * MORE, 5 * MORE, 1.0], [10 * MORE + 20 * LESS, 5 * LESS, 1.0], [15.0, 2.5, 1.0]
    torch.testing.assert_close(found.context, torch.tensor([ends]))


def test_keras_additive_attention() -> None:
    """Σ_d v_d tanh(q_d + k_d) with v = (2, -1): worked for each pair."""
    a, b, c = math.tanh(1), math.tanh(2), math.tanh(3)
    scores = torch.tensor([[2 * a - b, 2 * a - c], [2 * c, 2 * c - a], [2 * a - a, 2 * a - b]])
    torch.testing.assert_close(additive(2.0, -1.0)(QUERY, KEY)[0], scores, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(weights_of(QUERY, KEY, additive(2.0, -1.0))[0], scores.softmax(-1))


def test_keras_masks_say_what_may_be_seen() -> None:
    """A mask of values [batch, keys] is True where one is real; here with a dimension for the queries."""
    mask = torch.tensor([[False, True]])
    found = attend(QUERY, KEY, VALUE, score=Dot(), mask=mask[:, None, :]).context
    torch.testing.assert_close(found, VALUE[:, 1:].expand(1, 3, 3))


def test_tensorflow_addons_luong() -> None:
    """The memory layer stands on the side of the keys: score = qᵀ (W k), and scale=True multiplies it by a number."""
    w, g = torch.tensor([[1.0, -2.0, 0.0], [0.0, 1.0, 3.0]]), 0.5  # from keys of 3 to queries of 2
    score = General(2, 3)
    with torch.no_grad():
        score.weight.copy_(g * w)
    query, key = torch.tensor([[[2.0, 4.0]]]), torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    torch.testing.assert_close(score(query, key), torch.tensor([[[1.0, 0.0, 6.0]]]))


@pytest.mark.parametrize("hard", [False, True])
def test_tensorflow_addons_monotonic(hard: bool) -> None:  # noqa: FBT001
    """Its modes "recursive" and "hard", key by key from probabilities p; the first query begins at the first key.

    a_j = p_j q_j,  q_j = (1 - p_j-1) q_j-1 + before_j.
    """
    logits = torch.tensor([[0.3, -1.2, 0.7, 2.0, -0.4], [-0.9, 0.1, 1.1, -2.0, 0.6], [-3.0, 0.2, -0.1, 0.8, 1.5]])
    before = [1.0, 0.0, 0.0, 0.0, 0.0]
    wanted: list[list[float]] = []
    for row in logits.double().tolist():
        probabilities = [float(one > 0) if hard else 1 / (1 + math.exp(-one)) for one in row]
        here: list[float] = []
        comes_by, last = 0.0, 0.0
        for probability, stood in zip(probabilities, before, strict=True):
            comes_by = (1 - last) * comes_by + stood
            here.append(probability * comes_by)
            last = probability
        wanted.append(here)
        before = here
    weighting = Monotonic(bias=0.0, noise=0.0).train(not hard)
    found = weighting(logits[None], mask=None, query=torch.zeros(1, 3, 1)).weights[0]
    torch.testing.assert_close(found, torch.tensor(wanted))
