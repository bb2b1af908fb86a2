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
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from saccade.nets._kernels.deferred import DeferredLinear
from saccade.runtime.kernel_conditions import has_data, is_bare, is_eager
from saccade.runtime.linear import is_quantized, linear

KINDS = (nn.RNN, nn.GRU, nn.LSTM)
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
        self._recurrent = DeferredLinear(weight_hh)
        self._function = _CELL_FUNCTIONS[rnn.mode]

    def __call__(self, inputs: Tensor, state: State) -> State:
        """`inputs` is `[B, G D]`: what the step's inputs add up to, `bias_ih` included."""
        return self._function(inputs, self._recurrent(state[0]) + self._bias, state)


def run(rnn: nn.RNNBase, x: Tensor, first: State) -> tuple[Tensor, State]:
    """`x` `[B, S, in]` through `rnn` from the states `first`, `[L, B, D]` each: states `[B, S, D]`, and the last ones.

    Calling `rnn` is all there is to it, but torch's fused loops cannot be mapped, exported or differentiated forward:
    who does that gets one step after the other.
    """
    if is_eager() or not is_bare(rnn, *KINDS):
        states, last = rnn(x, first if rnn.mode == "LSTM" else first[0])
        return states, last if rnn.mode == "LSTM" else (last,)
    lasts: list[State] = []
    for layer in range(rnn.num_layers):
        x = _between_layers(rnn, layer, x)
        x, last = _run_direction(rnn, layer, x, None, tuple(part[layer] for part in first), backward=False)
        lasts.append(last)
    return x, tuple(torch.stack(parts) for parts in zip(*lasts, strict=True))


def run_padded(rnn: nn.RNNBase, x: Tensor, lengths: Tensor, mask: Tensor) -> tuple[Tensor, State]:
    """Read `x` `[B, S, in]` up to the lengths `[B]`, which are those of `mask` `[B, S]`. Padding is never read.

    Gives the states of the top layer `[B, S, directions D]`, zeros at padding, and what it ends with in each direction,
    side by side, `[B, directions D]` each.
    """
    if is_bare(rnn, *KINDS) and (is_quantized() or not (is_eager() and has_data(x))):
        return run_traceable(rnn, x, mask)
    packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    output, final = rnn(packed)
    states, _ = pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])
    directions = 2 if rnn.bidirectional else 1
    parts = final if isinstance(final, tuple) else (final,)  # [L * directions, B, D / directions] each
    return states, tuple(part[-directions:].transpose(0, 1).flatten(1) for part in parts)


def run_traceable(rnn: nn.RNNBase, x: Tensor, mask: Tensor) -> tuple[Tensor, State]:
    """`run_padded` one step after the other, by products of saccade's own and operations that can be traced."""
    finals: list[State] = []
    nothing = x.new_zeros(x.shape[0], rnn.hidden_size)
    first: State = (nothing,) * (2 if rnn.mode == "LSTM" else 1)
    for layer in range(rnn.num_layers):
        x = _between_layers(rnn, layer, x)
        directions = [
            _run_direction(rnn, layer, x, mask, first, backward=bool(direction))
            for direction in range(2 if rnn.bidirectional else 1)
        ]
        x = torch.cat([states for states, _ in directions], dim=-1)
        finals = [final for _, final in directions]
    return x * mask[..., None], tuple(torch.cat(parts, dim=-1) for parts in zip(*finals, strict=True))


def _between_layers(rnn: nn.RNNBase, layer: int, x: Tensor) -> Tensor:
    return F.dropout(x, rnn.dropout, training=rnn.training) if layer else x


def _run_direction(
    rnn: nn.RNNBase, layer: int, x: Tensor, mask: Tensor | None, state: State, *, backward: bool
) -> tuple[Tensor, State]:
    """One layer in one direction: `[B, S, D]`, and its last state. Padding leaves a state as it is."""
    weights = cell_weights(rnn, layer, backward=backward)
    cell = Cell(rnn, layer, backward=backward)
    inputs = linear(x, weights.weight_ih, weights.bias_ih).unbind(1)
    real = [None] * len(inputs) if mask is None else mask[..., None].unbind(1)
    states = list(inputs)
    for step in range(len(inputs) - 1, -1, -1) if backward else range(len(inputs)):
        after, here = cell(inputs[step], state), real[step]
        if here is not None:
            after = tuple(torch.where(here, new, old) for new, old in zip(after, state, strict=True))
        state = after
        states[step] = state[0]
    return torch.stack(states, dim=1), state


def _elman(inputs: Tensor, recurrent: Tensor, state: State) -> State:
    return (torch.tanh(inputs + recurrent),)


def _gru(inputs: Tensor, recurrent: Tensor, state: State) -> State:
    dim = state[0].shape[1]
    reset, update = torch.sigmoid(inputs[:, : 2 * dim] + recurrent[:, : 2 * dim]).chunk(2, dim=1)
    new = torch.tanh(torch.addcmul(inputs[:, 2 * dim :], reset, recurrent[:, 2 * dim :]))
    return (torch.lerp(new, state[0].to(new.dtype), update.to(new.dtype)),)  # which autocast leaves apart


def lstm_cell(cell: nn.LSTMCell, x: Tensor, state: State) -> State:
    """A step of torch's own cell, which cannot be mapped; for those who do, by its equations."""
    if is_eager() or not is_bare(cell, nn.LSTMCell):
        return cell(x, state)
    inputs = linear(x, cell.weight_ih, cell.bias_ih)
    return _lstm(inputs, linear(state[0], cell.weight_hh, cell.bias_hh), state)


def _lstm(inputs: Tensor, recurrent: Tensor, state: State) -> State:
    input_gate, forget_gate, candidate, output_gate = (inputs + recurrent).chunk(4, dim=1)
    cell = torch.sigmoid(forget_gate) * state[1] + torch.sigmoid(input_gate) * torch.tanh(candidate)
    return torch.sigmoid(output_gate) * torch.tanh(cell), cell


_CELL_FUNCTIONS: dict[str, Callable[[Tensor, Tensor, State], State]] = {"RNN_TANH": _elman, "GRU": _gru, "LSTM": _lstm}
