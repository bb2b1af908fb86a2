"""A modern Hopfield network against the equations of Ramsauer 2020 in numpy."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from saccade.show import Bars, Matrix, Table, make_lesson
from saccade.show.topics import hopfield
from saccade.show.topics.hopfield import BETA, BETAS, FLIPPED, HIDDEN, HIGH, LETTERS, SHOWN, WIDE

PATTERNS = np.array([[1.0 if pixel == "#" else -1.0 for pixel in "".join(rows)] for rows in LETTERS.values()])
WHOLE = PATTERNS[list(LETTERS).index(SHOWN)]


def test_letters_have_one_size_and_are_stored_as_signs() -> None:
    assert PATTERNS.shape == (len(LETTERS), HIGH * WIDE)
    assert hopfield.stored().tolist() == PATTERNS.tolist()


@pytest.mark.parametrize("beta", BETAS)
def test_a_step_is_the_equation(beta: float) -> None:
    state = np.random.default_rng(1).normal(size=HIGH * WIDE)
    powers = np.exp(beta * PATTERNS @ state)
    weights = powers / powers.sum()
    found = hopfield.update(torch.tensor(state).float(), hopfield.stored(), beta)
    np.testing.assert_allclose(found[1], weights, atol=1e-5)
    np.testing.assert_allclose(found[0], weights @ PATTERNS, atol=1e-5)
    level = -np.log(powers.sum()) / beta + state @ state / 2 + np.log(len(PATTERNS)) / beta + HIGH * WIDE / 2
    assert hopfield.energy(torch.tensor(state).float(), hopfield.stored(), beta) == pytest.approx(level, rel=1e-5)


@pytest.mark.parametrize("beta", BETAS)
def test_energy_falls_at_each_step_and_is_never_below_zero(beta: float) -> None:
    patterns = hopfield.stored().double()
    state = torch.randn(HIGH * WIDE, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    levels: list[float] = []
    for _ in range(6):
        levels.append(hopfield.energy(state, patterns, beta))
        state, _ = hopfield.update(state, patterns, beta)
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(levels))
    assert levels[0] > levels[1] + 0.1
    assert levels[-1] >= 0


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_damaged_letter_comes_back_in_one_step(seed: int) -> None:
    patterns, whole = hopfield.stored(), torch.tensor(WHOLE).float()
    for damaged, wrong in ((hopfield.flip(whole, seed), FLIPPED), (hopfield.hide(whole), HIDDEN * WIDE)):
        assert int((np.sign(damaged.numpy()) != WHOLE).sum()) == wrong == hopfield.wrong(damaged, whole)
        restored, _ = hopfield.update(damaged, patterns, BETA)
        assert np.sign(restored.numpy()).tolist() == WHOLE.tolist()


def test_the_network_of_1982_is_the_sum_of_products() -> None:
    joined = sum(np.outer(one, one) for one in PATTERNS) * (1 - np.eye(HIGH * WIDE))
    state = hopfield.flip(torch.tensor(WHOLE).float(), 1)
    wanted = state.numpy().astype(float)
    for _ in range(10):
        wanted = np.sign(joined @ wanted)
    assert hopfield.classic(state, hopfield.stored()).tolist() == wanted.tolist()
    assert (wanted != WHOLE).any()  # as the lesson says


def test_the_pictures_stand_side_by_side_and_the_table_falls() -> None:
    blocks = make_lesson("hopfield", seed=3).blocks
    flipped, hidden = (block.weights for block in blocks if isinstance(block, Matrix))
    assert flipped.shape == (HIGH, 3 * WIDE + 4)
    between = [WIDE, WIDE + 1, 2 * WIDE + 2, 2 * WIDE + 3]
    assert np.isnan(flipped[:, between]).all()
    assert (2 * flipped[:, :WIDE] - 1).ravel().tolist() == WHOLE.tolist()
    assert (flipped[:, :WIDE] != flipped[:, WIDE + 2 : 2 * WIDE + 2]).sum() == FLIPPED
    assert (hidden[-HIDDEN:, WIDE + 2 : 2 * WIDE + 2] == 0.5).all()
    assert (hidden[:, -WIDE:].round() == flipped[:, :WIDE]).all()
    descent, by_beta = (block for block in blocks if isinstance(block, Table))
    levels = [float(row[1]) for row in descent.rows]
    assert levels == sorted(levels, reverse=True)
    assert [row[3] for row in descent.rows] == [str(FLIPPED), "0", "0", "0"]
    weights = [float(row[1]) for row in by_beta.rows]
    assert weights == sorted(weights)
    (bars,) = (block for block in blocks if isinstance(block, Bars))
    assert sum(bars.values) == pytest.approx(1)
