"""The weightings: weights and gradients against the papers' formulas in numpy, differences for derivatives."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.attention import Hard, LocalMonotonic, LocalPredictive, Soft, Weighting
from saccade.show import Matrix, Table, make_lesson
from saccade.show.topics import soft_hard_local
from saccade.show.topics.soft_hard_local import DRAWS, SCORES, STEP, WINDOW

Floats = NDArray[np.float64]
VALUES = np.array([1.5, -2.0, 0.5, 3.0, -1.0, 2.5])


def softmax(scores: Floats) -> Floats:
    powers = np.exp(scores)
    return powers / powers.sum()


def within(scores: Floats, centre: float) -> Floats:
    """A softmax over the keys that are no farther from a position than the window."""
    return softmax(np.where(np.abs(np.arange(len(scores)) - centre) <= WINDOW, scores, -np.inf))


def slope(weights_of: Callable[[Floats], Floats]) -> Floats:
    """The gradient of the context `Σ weights values`, by differences."""
    nudges = 1e-5 * np.eye(len(SCORES))
    scores = np.array(SCORES)
    return np.array([(weights_of(scores + n) - weights_of(scores - n)) @ VALUES / 2e-5 for n in nudges])


def look(weighting: Weighting, query: Tensor | None = None) -> tuple[Tensor, Tensor]:
    query = torch.zeros(4) if query is None else query
    return soft_hard_local.look(weighting, torch.tensor(SCORES), torch.tensor(VALUES).float(), query=query)


@pytest.mark.parametrize(
    ("weighting", "weights_of"),
    [(Soft(), softmax), (LocalMonotonic(WINDOW), lambda scores: within(scores, STEP))],
    ids=["soft", "local-m"],
)
def test_weights_and_gradients_of_softmaxes(weighting: Weighting, weights_of: Callable[[Floats], Floats]) -> None:
    weights, gradient = look(weighting)
    np.testing.assert_allclose(weights, weights_of(np.array(SCORES)), atol=1e-6)
    np.testing.assert_allclose(gradient, slope(weights_of), atol=1e-5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_local_p_weighs_by_a_gaussian_around_a_predicted_position(seed: int) -> None:
    torch.manual_seed(seed)
    local_p, query = LocalPredictive(4, WINDOW), torch.randn(4)
    w, v = local_p.hidden.weight.detach().numpy(), local_p.v.detach().numpy()
    position = float(len(SCORES) / (1 + np.exp(-v @ np.tanh(w @ query.numpy()))))
    gaussian = np.exp(-((np.arange(len(SCORES)) - position) ** 2) / (2 * (WINDOW / 2) ** 2))
    weights, gradient = look(local_p, query)
    np.testing.assert_allclose(weights, within(np.array(SCORES), position) * gaussian, atol=1e-5)
    np.testing.assert_allclose(gradient, slope(lambda scores: within(scores, position) * gaussian), atol=1e-4)


def test_hard_takes_the_likeliest_and_has_no_gradient_of_its_own() -> None:
    weights, gradient = look(Hard().eval())
    assert weights.tolist() == [0, 0, 0, 1, 0, 0]
    assert not gradient.any()
    _, borrowed = look(Hard("straight-through"))
    np.testing.assert_allclose(borrowed, slope(softmax), atol=1e-5)


def test_reinforce_is_right_on_average_and_noisy() -> None:
    torch.manual_seed(1)
    found = soft_hard_local.reinforce(torch.tensor(SCORES), torch.tensor(VALUES).float())
    p = softmax(np.array(SCORES))
    each = VALUES[:, None] * (np.eye(len(p)) - p)  # of each word, if that is drawn
    np.testing.assert_allclose(found.one, each[found.drawn], atol=1e-5)
    spread = p @ np.linalg.norm(each - p @ each, axis=1)
    assert found.spread == pytest.approx(spread, rel=0.03)
    assert np.linalg.norm(found.mean.numpy() - slope(softmax)) < 4 * spread / DRAWS**0.5


def test_the_table_counts_what_the_picture_shows() -> None:
    blocks = make_lesson("soft-hard-local", seed=2).blocks
    weights, gradients = (block for block in blocks if isinstance(block, Matrix))
    (table,) = (block for block in blocks if isinstance(block, Table))
    for name, row, line in zip(weights.rows, weights.weights, table.rows, strict=True):
        assert line[:3] == (name, str((row > 0).sum()), f"{row.sum():.2f}")
    assert gradients.diverging
    assert len(gradients.rows) == 7
