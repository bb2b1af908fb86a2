"""How far the gradient reaches, against differences."""

import pytest
import torch

from saccade.show import Curves, Table, make_lesson
from saccade.show.topics.gradients import CELLS, DIM, WORDS, last_loss, make_nets, reach_of
from tests.show.blocks import blocks, column


@pytest.mark.parametrize("cell", CELLS)
def test_with_attention_it_is_the_slope_that_differences_find(cell: str) -> None:
    encoder, decoder = make_nets(cell, "additive", seed=2)
    words, small = torch.arange(WORDS)[None], 1e-5
    reach = reach_of(encoder, decoder)
    slopes = torch.zeros(DIM, dtype=torch.float64)
    for index in range(DIM):
        losses: list[float] = []
        for value in (small, -2 * small):
            with torch.no_grad():
                encoder.embedding.weight[0, index] += value
                losses.append(float(last_loss(encoder, decoder, words)))
        slopes[index] = (losses[0] - losses[1]) / (2 * small)
        with torch.no_grad():
            encoder.embedding.weight[0, index] += small
    assert float(slopes.norm()) == pytest.approx(float(reach[0]), rel=1e-3)


@torch.no_grad()
def test_without_attention_another_first_word_changes_nothing_that_float64_can_hold() -> None:
    encoder, decoder = make_nets("gru", "none", seed=1)
    words = torch.arange(WORDS)[None]
    before = float(last_loss(encoder, decoder, words))
    encoder.embedding.weight[0] += 1
    assert float(last_loss(encoder, decoder, words)) == pytest.approx(before, abs=1e-14)


def test_what_is_shown() -> None:
    shown = make_lesson("gradients")
    (curves,), (table,) = blocks(shown, Curves), blocks(shown, Table)
    without, with_ = curves.lines["without attention"], curves.lines["with attention"]
    assert len(without) == len(with_) == WORDS
    assert without[0] < 1e-17
    assert min(with_) > 1e-4
    assert max(with_) < 10 * min(with_)  # all words are as near
    assert column(table, "cell") == list(CELLS)
    assert all(float(cell) < 1e-17 for cell in column(table, "first, without"))
    assert all(float(cell) > 1e-4 for cell in column(table, "first, with"))
