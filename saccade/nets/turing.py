"""The Neural Turing Machine (Graves 2014): a controller that reads and writes a memory by attention.

Letters: `B` batch, `T` steps, `N` locations of the memory, `M` numbers at each, `H` heads (the `R` that read first,
then the `W` that write), `K` offsets of a shift, `I` inputs, `O` outputs, `C` size of the controller.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from saccade.nets._kernels.turing_step import HeadParameters, HeadSizes, head_parameters, move_heads
from saccade.nets.cells import lstm_cell

ControllerKind = Literal["feed-forward", "lstm"]
MemoryInit = Literal["constant", "learned", "random"]
_CLOSED = -2.0  # a gate's bias: sigmoid(-2) is 0.12


class MachineState(NamedTuple):
    """All that the machine knows between two steps; it goes in and comes out."""

    memory: Tensor  # [B, N, M]
    weights: Tensor  # [B, H, N], where the heads are
    reads: Tensor  # [B, R·M], what was read last
    hidden: Tensor  # [B, C], of the controller
    cell: Tensor  # [B, C], of an LSTM controller


class TuringMachine(nn.Module):
    """Inputs `[B, T, I]` to logits `[B, T, O]`, by way of a memory of `locations` x `width`.

    In each step the controller sees the input and what was read before, and tells all heads where to go; they read

        r = Σ_i w_i M_i    and then write    M_i <- M_i Π_heads (1 - w_i e) + Σ_heads w_i a

    Reading and writing heads alike look at the memory as it was before the step. The outputs see the controller and
    what was read in the same step. Nothing is kept between calls.

    Some likeness of the locations has to be broken, or no shift is ever learnt. So the heads begin near the first
    location; where exactly is learnt. The first memory (`memory_init`) is constant, or random once and for all, or
    learnt: then its locations can also serve as landmarks.

    All gates begin nearly shut (g = 0.12): a head that goes by content before there is content to go by learns slowly,
    and one that writes where it finds something like it writes one thing over another. Where things have to be found
    by what they are, though, as in recall, heads that read by location learn which location is asked for most often,
    and stay with that. Then `gate_bias` can open the gates of those that read, about g = sigmoid(gate_bias), and
    `beta_bias` make all heads pickier about content, β = softplus(beta_bias).

    While the shift of a head is not decided yet, sharpening makes more of every small change, and does so again in
    each step, so that gradients may grow a thousandfold over a sequence. `step_clip` cuts them where they grow, from
    each step to the one before. Training is calmer for it, but the rare sequences that go wrong are then hard to learn
    from; lengths that grow in the course of training did more good.
    """

    memory_init: Tensor
    first_hidden: Tensor | None

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        locations: int,
        width: int,
        dim: int,
        controller: ControllerKind = "feed-forward",
        read_heads: int = 1,
        write_heads: int = 1,
        shifts: int = 3,
        memory_init: MemoryInit = "random",
        step_clip: float | None = None,
        gate_bias: float = _CLOSED,
        beta_bias: float = 0.0,
    ) -> None:
        super().__init__()
        self.sizes = HeadSizes(width, read_heads, write_heads, shifts, step_clip or 0.0)
        heads = read_heads + write_heads
        seen = inputs + read_heads * width
        self.controller = nn.LSTMCell(seen, dim) if controller == "lstm" else nn.Linear(seen, dim)
        self.head_projection = nn.Linear(dim, sum(self.sizes.parts()))
        self.output = nn.Linear(dim + read_heads * width, outputs)
        numbers = torch.full((locations, width), _CONSTANT) if memory_init == "constant" else _random(locations, width)
        if memory_init == "learned":
            self.memory_init = nn.Parameter(numbers)
        else:
            self.register_buffer("memory_init", numbers)
        first_logits = torch.zeros(heads, locations)
        first_logits[:, 0] = _FIRST_LOCATION
        self.first_weights = nn.Parameter(first_logits)
        self.first_reads = nn.Parameter(torch.zeros(read_heads * width))
        self.dim = dim
        # of an LSTM, and its cell; a feed-forward controller has no state to begin with
        self.first_hidden = nn.Parameter(torch.zeros(2, dim)) if controller == "lstm" else None
        with torch.no_grad():
            _, betas, gates, *_ = self.head_projection.bias.split(self.sizes.parts())
            gates.fill_(_CLOSED)[:read_heads] = gate_bias
            betas.add_(beta_bias)

    def start(self, batch: int) -> MachineState:
        """The state before the first step, for so many sequences."""
        hidden = self.memory_init.new_zeros(2, self.dim) if self.first_hidden is None else self.first_hidden
        return MachineState(
            self.memory_init.expand(batch, -1, -1),
            torch.softmax(self.first_weights, dim=-1).expand(batch, -1, -1),
            self.first_reads.expand(batch, -1),
            hidden[0].expand(batch, -1),
            hidden[1].expand(batch, -1),
        )

    def step(self, inputs: Tensor, state: MachineState) -> tuple[MachineState, Tensor]:
        """One step with inputs `[B, I]`: the state after it, and the raw head parameters."""
        seen = torch.cat([inputs, state.reads], dim=-1)
        hidden, cell = state.hidden, state.cell
        if isinstance(self.controller, nn.LSTMCell):
            hidden, cell = lstm_cell(self.controller, seen, (hidden, cell))
        else:
            hidden = torch.tanh(self.controller(seen))
        raw_parameters = self.head_projection(hidden)
        weights, reads, memory = move_heads(state.memory, state.weights, raw_parameters, self.sizes)
        return MachineState(memory, weights, reads.flatten(1), hidden, cell), raw_parameters

    def forward(
        self,
        inputs: Tensor,
        state: MachineState | None = None,
        *,
        mask: Tensor | None = None,
        on_step: Callable[[int, MachineState, HeadParameters], MachineState | None] | None = None,
    ) -> tuple[Tensor, MachineState]:
        """All steps of inputs `[B, T, I]`: logits `[B, T, O]`, and the state after the last.

        mask     `[B, T]`, True where there is an input; elsewhere a sequence stays as it was
        on_step  is called after each step with its number, the state and the head parameters; what it returns, if
                 anything, takes the place of the state
        """
        state = self.start(inputs.shape[0]) if state is None else state
        seen: list[Tensor] = []
        for number, now in enumerate(inputs.unbind(1)):
            after, raw_parameters = self.step(now, state)
            if mask is not None:
                after = _where(mask[:, number], after, state)
            if on_step is not None:
                after = on_step(number, after, head_parameters(raw_parameters, self.sizes)) or after
            seen.append(torch.cat([after.hidden, after.reads], dim=-1))
            state = after
        # one product for the outputs of all steps
        return self.output(torch.stack(seen, dim=1)), state


def _random(locations: int, width: int) -> Tensor:
    """Numbers for a first memory, each location of about length 1."""
    return nn.init.normal_(torch.empty(locations, width), std=width**-0.5)


_CONSTANT = 1e-6  # Collier 2018
_FIRST_LOCATION = 10.0  # e^10 to 1: nearly all of the weight, and no doubt where the first vector goes


def _where(mask: Tensor, new: MachineState, old: MachineState) -> MachineState:
    """The new state where the mask `[B]` says so, and the old one elsewhere."""
    return MachineState(
        *(torch.where(mask.view(-1, *[1] * (now.dim() - 1)), now, before) for now, before in zip(new, old, strict=True))
    )
