"""Recurrent cells, one step at a time, with the weights of torch's own `nn.RNN`, `nn.GRU` and `nn.LSTM`.

torch computes a whole sequence at once, and so cannot let a decoder look elsewhere between two steps; calling it for
each step costs more than the step. What a step adds up from its inputs comes in ready:

    Elman  h' = tanh(i + W h)
    GRU    r = σ(i_r + W_r h),  z = σ(i_z + W_z h),  n = tanh(i_n + r (W_n h + b_n)),  h' = (1 - z) n + z h
    LSTM   i, f, o = σ(...),  g = tanh(...) of i + W h,  c' = f c + i g,  h' = o tanh(c')

Letters: `B` batch, `D` dim, `G` gates (1, 3 or 4).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from saccade.nets._kernels.deferred import DeferredLinear
from saccade.precision import linear

State = tuple[Tensor, ...]  # [B, D] each: the hidden state, and an LSTM's cell state after it


class CellWeights(NamedTuple):
    """The weights of one layer, as torch names them."""

    weight_ih: Tensor  # [G D, in]
    weight_hh: Tensor  # [G D, D]
    bias_ih: Tensor  # [G D]
    bias_hh: Tensor  # [G D]


def cell_weights(rnn: nn.RNNBase, layer: int, *, backward: bool = False) -> CellWeights:
    ending = f"_l{layer}{'_reverse' if backward else ''}"
    return CellWeights(*(getattr(rnn, name + ending) for name in CellWeights._fields))


class Cell:
    """One layer, to be made anew for each pass over a sequence."""

    def __init__(self, rnn: nn.RNNBase, layer: int, *, backward: bool = False) -> None:
        _, weight_hh, _, self._bias = cell_weights(rnn, layer, backward=backward)
        self._recur = DeferredLinear(weight_hh)
        self._advance = _ADVANCES[rnn.mode]

    def __call__(self, inputs: Tensor, state: State) -> State:
        """`inputs` is `[B, G D]`: what the step's inputs add up to, `bias_ih` included."""
        return self._advance(inputs, self._recur(state[0]) + self._bias, state)


def read_through(rnn: nn.RNNBase, x: Tensor, mask: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Read `x` `[B, S, in]` where `mask` `[B, S]` is True, in all layers and directions of `rnn`, without dropout.

    Gives the states of the top layer `[B, S, directions D]`, and what it ends with in each direction, side by side,
    `[B, directions D]` each. torch does the same in one call, but knows no products other than its own.
    """
    finals: list[State] = []
    for layer in range(rnn.num_layers):
        ways = [_read_one_way(rnn, layer, x, mask, backward=way == 1) for way in range(2 if rnn.bidirectional else 1)]
        x = torch.cat([states for states, _ in ways], dim=-1)
        finals = [final for _, final in ways]
    return x * mask[..., None], tuple(torch.cat(parts, dim=-1) for parts in zip(*finals, strict=True))


def _read_one_way(rnn: nn.RNNBase, layer: int, x: Tensor, mask: Tensor, *, backward: bool) -> tuple[Tensor, State]:
    """One layer in one direction: `[B, S, D]`, and its last state. Padding leaves a state as it is."""
    weights = cell_weights(rnn, layer, backward=backward)
    cell = Cell(rnn, layer, backward=backward)
    nothing = x.new_zeros(len(x), rnn.hidden_size)
    state: State = (nothing,) * (2 if rnn.mode == "LSTM" else 1)
    inputs = linear(x, weights.weight_ih, weights.bias_ih).unbind(1)
    real = mask[..., None].unbind(1)
    states = [nothing] * len(inputs)
    for place in range(len(inputs) - 1, -1, -1) if backward else range(len(inputs)):
        after = cell(inputs[place], state)
        state = tuple(torch.where(real[place], new, old) for new, old in zip(after, state, strict=True))
        states[place] = state[0]
    return torch.stack(states, dim=1), state


def _elman(inputs: Tensor, recurrent: Tensor, state: State) -> State:
    return (torch.tanh(inputs + recurrent),)


def _gru(inputs: Tensor, recurrent: Tensor, state: State) -> State:
    dim = state[0].shape[1]
    reset, update = torch.sigmoid(inputs[:, : 2 * dim] + recurrent[:, : 2 * dim]).chunk(2, dim=1)
    new = torch.tanh(torch.addcmul(inputs[:, 2 * dim :], reset, recurrent[:, 2 * dim :]))
    return (torch.lerp(new, state[0], update),)


def _lstm(inputs: Tensor, recurrent: Tensor, state: State) -> State:
    enter, forget, new, leave = (inputs + recurrent).chunk(4, dim=1)
    cell = torch.sigmoid(forget) * state[1] + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(leave) * torch.tanh(cell), cell


_ADVANCES: dict[str, Callable[[Tensor, Tensor, State], State]] = {"RNN_TANH": _elman, "GRU": _gru, "LSTM": _lstm}
