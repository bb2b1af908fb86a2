"""One step of the heads of a Neural Turing Machine, from what the controller says to the next memory.

Letters: `B` batch, `N` places of the memory, `M` numbers at each, `H` heads (the `R` that read first, then the `W` that
write), `K` offsets of a shift.

As torch's operations a step is some forty small ones, each of which costs more to call than to compute, and as many
again on the way back. As a C loop it is one.
"""

from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from saccade.attention import Addressing, address
from saccade.native import call, library_for

SOURCE = Path(__file__).with_name("turing_step.c")


class HeadSizes(NamedTuple):
    """How many heads, of what size, and how much of a gradient goes back through them."""

    width: int  # M
    read: int  # R
    write: int  # W
    shifts: int  # K
    limit: float = 0.0  # a sequence's gradient is cut to this norm from step to step, if it is above 0

    def parts(self) -> list[int]:
        """How a row of what the controller says is cut: key, strength, gate, offsets, power; erase, add."""
        heads = self.read + self.write
        changes = self.write * self.width
        return [heads * self.width, heads, heads, heads * self.shifts, heads, changes, changes]


class Told(NamedTuple):
    """What the controller tells the heads in one step."""

    where: Addressing  # of all H heads
    erase: Tensor  # [B, W, M], between 0 and 1
    add: Tensor  # [B, W, M], between -1 and 1


class Moved(NamedTuple):
    """What came of it."""

    weights: Tensor  # [B, H, N]
    reads: Tensor  # [B, R, M]
    memory: Tensor  # [B, N, M]


def move_heads(memory: Tensor, last: Tensor, said: Tensor, sizes: HeadSizes) -> Moved:
    """Memory `[B, N, M]`, where the heads were `[B, H, N]`, and what the controller says, `[B, sum of the parts]`."""
    if library_for(memory, SOURCE) is None:
        return plain_move_heads(memory, last, said, sizes)
    return Moved(*_Step.apply(memory.contiguous(), last.contiguous(), said.contiguous(), sizes))


def plain_move_heads(memory: Tensor, last: Tensor, said: Tensor, sizes: HeadSizes) -> Moved:
    """The same by torch's operations, which read like the formulas: what the loop is held to."""
    told = understood(said, sizes)
    memory, last = (part if sizes.limit == 0 else _Cut.apply(part, sizes.limit) for part in (memory, last))
    weights = address(memory, last, told.where)
    reads = weights[:, : sizes.read] @ memory
    return Moved(weights, reads, write(memory, weights[:, sizes.read :], told.erase, told.add))


def understood(said: Tensor, sizes: HeadSizes) -> Told:
    """What the controller says, `[B, sum of the parts]`, each part within its bounds."""
    key, strength, gate, offsets, power, erase, add = said.split(sizes.parts(), dim=-1)
    return Told(
        Addressing(
            torch.tanh(key).unflatten(-1, (-1, sizes.width)),
            F.softplus(strength),
            torch.sigmoid(gate),
            torch.softmax(offsets.unflatten(-1, (-1, sizes.shifts)), dim=-1),
            1 + F.softplus(power),
        ),
        torch.sigmoid(erase).unflatten(-1, (-1, sizes.width)),
        torch.tanh(add).unflatten(-1, (-1, sizes.width)),
    )


def write(memory: Tensor, weights: Tensor, erase: Tensor, add: Tensor) -> Tensor:
    """`M_i <- M_i Π_heads (1 - w_i e) + Σ_heads w_i a`: memory `[B, N, M]`, weights `[B, W, N]`, the rest `[B, W, M]`.

    Whatever the order of the heads, the result is the same.
    """
    kept = (1 - weights[..., None] * erase[:, :, None, :]).prod(1)
    return memory * kept + weights.transpose(1, 2) @ add


class _Cut(Function):
    """The same forward; backward, the gradient of each sequence is cut to a norm."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, limit: float) -> Tensor:
        ctx.limit = limit
        return x.view_as(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        norms = grad.flatten(1).norm(dim=1)
        return grad * (ctx.limit / norms.clamp_min(ctx.limit))[:, None, None], None


class _Step(Function):
    @staticmethod
    def forward(
        ctx: Any, memory: Tensor, last: Tensor, said: Tensor, sizes: HeadSizes
    ) -> tuple[Tensor, Tensor, Tensor]:
        weights, after = torch.empty_like(last), torch.empty_like(memory)
        reads = memory.new_empty(len(memory), sizes.read, sizes.width)
        kept = last.new_empty(*last.shape[:2], 4, last.shape[2])
        _call("turing_forward", (memory, last, said, weights, reads, after, kept), memory, sizes)
        ctx.save_for_backward(memory, last, said, weights, kept)
        ctx.sizes = sizes
        ctx.set_materialize_grads(False)
        return weights, reads, after

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, of_weights: Tensor | None, of_reads: Tensor | None, of_memory: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor, None]:
        memory, last, said, weights, kept = ctx.saved_tensors
        results = torch.empty_like(memory), torch.empty_like(last), torch.empty_like(said)
        gradients = (None if one is None else one.contiguous() for one in (of_weights, of_reads, of_memory))
        tensors = (memory, last, said, weights, kept, *gradients, *results)
        _call("turing_backward", tensors, memory, ctx.sizes, ctx.sizes.limit)
        return *results, None


def _call(name: str, tensors: tuple[Tensor | None, ...], memory: Tensor, sizes: HeadSizes, *numbers: float) -> None:
    library = library_for(memory, SOURCE)
    assert library is not None
    batch, places, width = memory.shape
    call(getattr(library, name), tensors, batch, places, width, sizes.read, sizes.write, sizes.shifts, *numbers)
