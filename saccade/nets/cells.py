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

State = tuple[Tensor, ...]  # [B, D] each: the hidden state, and an LSTM's cell state after it


class CellWeights(NamedTuple):
    """The weights of one layer, as torch names them."""

    weight_ih: Tensor  # [G D, in]
    weight_hh: Tensor  # [G D, D]
    bias_ih: Tensor  # [G D]
    bias_hh: Tensor  # [G D]


def cell_weights(rnn: nn.RNNBase, layer: int) -> CellWeights:
    return CellWeights(*(getattr(rnn, f"{name}_l{layer}") for name in CellWeights._fields))


class Cell:
    """One layer, to be made anew for each pass over a sequence."""

    def __init__(self, rnn: nn.RNNBase, layer: int) -> None:
        _, weight_hh, _, self._bias = cell_weights(rnn, layer)
        self._recur = DeferredLinear(weight_hh)
        self._advance = _ADVANCES[rnn.mode]

    def __call__(self, inputs: Tensor, state: State) -> State:
        """`inputs` is `[B, G D]`: what the step's inputs add up to, `bias_ih` included."""
        return self._advance(inputs, self._recur(state[0]) + self._bias, state)


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
