"""One step of the heads of a Neural Turing Machine, from what the controller says to the next memory.

Letters: `B` batch, `N` locations of the memory, `M` numbers at each, `H` heads (the `R` that read first, then the `W`
that write), `K` offsets of a shift.

As torch's operations a step is some forty small ones, each of which costs more to call than to compute, and as many
again on the way back. As a C loop it is one.
"""

import functools
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from saccade.attention import Addressing, address
from saccade.runtime.kernels.turing_step import SOURCE, turing_step
from saccade.runtime.native import library_for
from saccade.runtime.operators import expect_numbers


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
    if not memory.is_meta and torch.is_autocast_enabled(memory.device.type):
        # products are coarser before and after; here, sums of many steps are
        widest = functools.reduce(torch.promote_types, (memory.dtype, last.dtype, said.dtype))
        with torch.autocast(memory.device.type, enabled=False):
            return move_heads(memory.to(widest), last.to(widest), said.to(widest), sizes)
    if library_for(SOURCE, memory, last, said) is None:
        expect_numbers("memory", memory, last=last, said=said)
        return plain_move_heads(memory, last, said, sizes)
    return Moved(*turing_step(memory, last, said, sizes.read, sizes.write, sizes.shifts, sizes.limit)[:3])


def plain_move_heads(memory: Tensor, last: Tensor, said: Tensor, sizes: HeadSizes) -> Moved:
    """The same by torch's operations, which read like the formulas: what the loop is held to."""
    told = understood(said, sizes)
    memory, last = (part if sizes.limit == 0 else _cut(part, sizes.limit) for part in (memory, last))
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


def _cut(x: Tensor, limit: float) -> Tensor:
    """The same forward; backward, the gradient of each sequence is cut to a norm."""
    if not torch.is_grad_enabled():
        return x
    # torch.compile refuses functions that can be differentiated forward
    return (_Cut if torch.compiler.is_compiling() else _CutBothWays).apply(x, limit)


class _Cut(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, limit: float) -> Tensor:
        return x.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, float], output: Tensor) -> None:
        _, ctx.limit = inputs

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        norms = grad.flatten(1).norm(dim=1)
        return grad * (ctx.limit / norms.clamp_min(ctx.limit))[:, None, None], None


class _CutBothWays(_Cut):
    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, _: None) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return tangent.clone()
