"""One head has to mix what two can keep apart; they cost the same."""

import numpy as np
import pytest
import torch

from saccade.show import Matrix, Table
from saccade.show.topics.heads import BACK, DIM, LENGTH, LETTERS, Trained, make_batch
from tests.show.blocks import blocks, column
from tests.show.samples import lesson_of


def test_what_is_wanted_are_the_letters_so_far_back() -> None:
    torch.manual_seed(0)
    x, wanted = make_batch(7)
    letters = x[..., :LETTERS].argmax(-1)
    for place in range(max(BACK), LENGTH):
        for which, back in enumerate(BACK):
            assert wanted[:, place - max(BACK), which].equal(letters[:, place - back])


def test_the_share_of_a_head_is_a_diagonal_of_its_weights() -> None:
    weights = np.zeros((2, LENGTH - max(BACK), LENGTH))
    for row in range(LENGTH - max(BACK)):
        weights[1, row, row + max(BACK) - 1] = 0.75  # one letter back
    trained = Trained(weights, 0, 0, 0)
    assert [trained.share(head, 1) for head in (0, 1)] == [0, 0.75]
    assert trained.share(1, 3) == 0


@pytest.fixture(scope="module")
def found() -> tuple[list[np.ndarray], Table]:
    shown = lesson_of("heads")
    (table,) = blocks(shown, Table)
    return [matrix.weights for matrix in blocks(shown, Matrix)], table


def test_two_heads_look_at_one_letter_each_and_one_head_at_both(found: tuple[list[np.ndarray], Table]) -> None:
    one, *two = found[0]
    assert all(set(row.argsort()[-2:]) == {place, place + 2} for place, row in enumerate(one))
    assert sorted(BACK[0] if (weights.argmax(1) == np.arange(5) + 2).all() else BACK[1] for weights in two) == [1, 3]
    assert all(weights.max(1).min() > 0.7 for weights in two)


def test_two_heads_are_right_at_the_cost_of_one(found: tuple[list[np.ndarray], Table]) -> None:
    right = [float(cell.removesuffix(" %")) for cell in column(found[1], "letters right")]
    assert right[0] < 75
    assert min(right[1:]) > 99
    assert column(found[1], "parameters") == [f"{4 * (DIM * DIM + DIM):,}"] * 3
    # four projections, and for each pair of places two numbers for each of DIM
    operations = 2 * (4 * LENGTH * DIM * DIM + 2 * LENGTH * LENGTH * DIM)
    assert column(found[1], "operations") == [f"{operations:,}"] * 3
