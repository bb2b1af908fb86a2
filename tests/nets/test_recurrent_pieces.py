"""Cells, one step at a time, and linear maps whose gradient waits for the last step."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from saccade.nets._kernels.deferred import DeferredLinear
from saccade.nets.cells import Cell, cell_weights, run_traceable


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("layer", [0, 1])
def test_cells_are_those_of_torch(kind: type[nn.RNN | nn.GRU | nn.LSTM], layer: int) -> None:
    torch.manual_seed(0)
    rnn = kind(5, 4, num_layers=2).double()
    alone = kind(5 if layer == 0 else 4, 4).double()
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(alone, f"{name}_l0").data = getattr(rnn, f"{name}_l{layer}").data.clone()
    x = torch.randn(6, 3, alone.input_size, dtype=torch.float64)  # [T, B, in]
    wanted, _ = alone(x)

    weights = cell_weights(rnn, layer)
    cell, state = Cell(rnn, layer), tuple(torch.zeros(3, 4, dtype=torch.float64) for _ in range(2))
    found: list[Tensor] = []
    for step in x:
        state = cell(F.linear(step, weights.weight_ih, weights.bias_ih), state)
        found.append(state[0])
    torch.testing.assert_close(torch.stack(found), wanted)

    factor = torch.randn_like(wanted)
    (torch.stack(found) * factor).sum().backward()
    (wanted * factor).sum().backward()
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        torch.testing.assert_close(getattr(rnn, f"{name}_l{layer}").grad, getattr(alone, f"{name}_l0").grad)


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("directions", [1, 2])
def test_reading_through_is_that_of_torch(kind: type[nn.RNN | nn.GRU | nn.LSTM], directions: int) -> None:
    """Of sequences with different lengths, in two layers."""
    torch.manual_seed(0)
    rnn = kind(5, 7, num_layers=2, batch_first=True, bidirectional=directions == 2)
    x, lengths = torch.randn(3, 11, 5), torch.tensor([11, 4, 1])
    with torch.no_grad():
        output, final = rnn(pack_padded_sequence(x, lengths, batch_first=True))
        wanted, _ = pad_packed_sequence(output, batch_first=True)
        found, ends = run_traceable(rnn, x, torch.arange(11) < lengths[:, None])
    torch.testing.assert_close(found, wanted)
    for end, part in zip(ends, final if isinstance(final, tuple) else (final,), strict=True):
        torch.testing.assert_close(end, part[-directions:].transpose(0, 1).flatten(1))


def chain(weight: Tensor, x: Tensor, *, deferred: bool) -> Tensor:
    """x -> tanh(x Wᵀ), four times, with something of each step in the result."""
    use = DeferredLinear(weight) if deferred else lambda part: F.linear(part, weight)
    total = x.new_zeros(())
    for step in range(4):
        x = torch.tanh(use(x))
        total = total + (step + 1) * x.square().sum()
    return total


def test_a_deferred_gradient_is_the_gradient() -> None:
    torch.manual_seed(0)
    weight = torch.randn(5, 5, dtype=torch.float64, requires_grad=True)
    x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    wanted = torch.autograd.grad(chain(weight, x, deferred=False), (weight, x))
    total = chain(weight, x, deferred=True)
    for _ in range(2):  # a graph that is kept gives the same again
        for one, other in zip(torch.autograd.grad(total, (weight, x), retain_graph=True), wanted, strict=True):
            torch.testing.assert_close(one, other)


def test_a_deferred_weight_may_be_frozen_unused_or_wanted_by_nobody() -> None:
    x = torch.randn(3, 5, requires_grad=True)
    chain(torch.randn(5, 5), x, deferred=True).backward()
    assert x.grad is not None
    weight = torch.randn(5, 5, requires_grad=True)
    use = DeferredLinear(weight)
    first, second = use(x), use(x.detach())
    second.sum().backward()  # the first step has no part in this
    assert weight.grad is not None
    torch.testing.assert_close(weight.grad, x.detach().sum(0).expand(5, 5))
    assert first.requires_grad
    with torch.no_grad():
        assert not DeferredLinear(weight)(x).requires_grad
