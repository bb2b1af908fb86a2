"""The score with a GRU at each key, beside torch's own cell."""

import torch
from torch import nn

from saccade.attention import LocationRecurrent

UNITS, WIDTH, KEYS = 3, 5, 7


def test_the_state_is_that_of_torch_s_cell() -> None:
    score, cell = LocationRecurrent(4, 4, units=UNITS, width=WIDTH).double(), nn.GRUCell(WIDTH, UNITS).double()
    own = (score.input_gates.weight, score.memory_gates.weight, score.input_gates.bias, score.memory_gates.bias)
    with torch.no_grad():
        for theirs, mine in zip(cell.parameters(), own, strict=True):
            theirs.copy_(mine)
    past, weights = torch.randn(2, KEYS, UNITS).double(), torch.rand(2, KEYS).double()
    padded = torch.cat([torch.zeros(2, 2), weights, torch.zeros(2, 2)], dim=1)
    wanted = torch.stack([cell(padded[:, s : s + WIDTH], past[:, s]) for s in range(KEYS)], dim=1)
    torch.testing.assert_close(score.update_state(past, weights), wanted)

    visible = torch.rand(2, KEYS) > 0.5
    found = score.update_state(past, weights, visible=visible)
    torch.testing.assert_close(found, torch.where(visible[..., None], wanted, past))


def test_it_remembers_more_than_the_last_weights() -> None:
    """Two pasts that end alike give other scores, and the first query has none."""
    score = LocationRecurrent(4, 4).double()
    key = torch.randn(1, KEYS, 4).double()
    keys = score.keys(key)
    nothing = score.initial_state(keys)
    assert nothing.shape == (1, KEYS, 10)
    assert not nothing.any()
    last, others = torch.rand(1, KEYS).double(), torch.rand(2, 1, KEYS).double()
    one, other = (score.update_state(score.update_state(nothing, before), last) for before in others)
    query = score.queries(torch.randn(1, 1, 4).double())
    scores = [score.compare(query, score.condition_keys(keys, past)) for past in (one, other)]
    assert not torch.allclose(*scores, rtol=1e-4)
