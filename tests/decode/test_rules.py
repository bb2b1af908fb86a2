"""What may be written at a position, and the likeliest of it."""

import pytest
import torch

from saccade.decode.rules import make_rules
from saccade.text import END


@pytest.mark.parametrize("position", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_the_best_are_those_of_all_log_probabilities(position: int, count: int) -> None:
    """Rows that are free, that have to write a prefix, and that have to end, side by side."""
    torch.manual_seed(position)
    rules = make_rules([3, 9, 9, 4], [[], [7, 12], [], [5]])
    logits = torch.randn(4, 17) * 5
    values, tokens = rules.best(logits.clone(), position, count)
    wanted = rules.apply(logits.clone(), position)
    assert values.shape == (4, min(count, 17 - END))
    torch.testing.assert_close(values, wanted[:, END:].topk(values.shape[1]).values, atol=1e-5, rtol=1e-5)
    possible = values > -torch.inf
    torch.testing.assert_close(values[possible], wanted.gather(1, tokens)[possible], atol=1e-5, rtol=1e-5)


def test_an_impossible_row_stays_impossible() -> None:
    rules = make_rules([2, 2], [[6], [6]])
    logits = torch.zeros(2, 9)
    logits[0, END:] = -torch.inf
    values, tokens = rules.best(logits, 0, 2)
    assert values[0].tolist() == [-torch.inf, -torch.inf]
    assert tokens[:, 0].tolist() == [6, 6]
    assert float(values[1, 0]) == pytest.approx(-torch.tensor(9.0).log())


def test_how_many_logits_are_looked_at() -> None:
    rules = make_rules([4, 9], [[], [7]])
    assert [rules.candidates(position, 5) for position in range(5)] == [None, 5 + END, 5 + END, 5 + END, 5 + END]
