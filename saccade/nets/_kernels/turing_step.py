"""One step of the heads of a Neural Turing Machine, from the controller's output to the next memory.

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
        """How a row of raw head parameters is split: key, beta, gate, offsets, gamma; erase, add."""
        heads = self.read + self.write
        changes = self.write * self.width
        return [heads * self.width, heads, heads, heads * self.shifts, heads, changes, changes]


class HeadParameters(NamedTuple):
    """What the heads do in one step, after the activations: the controller's interface to them."""

    addressing: Addressing  # of all H heads
    erase: Tensor  # [B, W, M], between 0 and 1
    add: Tensor  # [B, W, M], between -1 and 1


class HeadsOutput(NamedTuple):
    """What a step of the heads gives."""

    weights: Tensor  # [B, H, N]
    reads: Tensor  # [B, R, M]
    memory: Tensor  # [B, N, M]


def move_heads(memory: Tensor, last: Tensor, raw_parameters: Tensor, sizes: HeadSizes) -> HeadsOutput:
    """Memory `[B, N, M]`, where the heads were `[B, H, N]`, and the raw head parameters, `[B, sum of the parts]`."""
    if not memory.is_meta and torch.is_autocast_enabled(memory.device.type):
        # products are coarser before and after; here, sums of many steps are
        widest = functools.reduce(torch.promote_types, (memory.dtype, last.dtype, raw_parameters.dtype))
        with torch.autocast(memory.device.type, enabled=False):
            return move_heads(memory.to(widest), last.to(widest), raw_parameters.to(widest), sizes)
    if library_for(SOURCE, memory, last, raw_parameters) is None:
        expect_numbers("memory", memory, last=last, raw_parameters=raw_parameters)
        return plain_move_heads(memory, last, raw_parameters, sizes)
    return HeadsOutput(
        *turing_step(memory, last, raw_parameters, sizes.read, sizes.write, sizes.shifts, sizes.limit)[:3]
    )


def plain_move_heads(memory: Tensor, last: Tensor, raw_parameters: Tensor, sizes: HeadSizes) -> HeadsOutput:
    """The same by torch's operations, which read like the formulas: what the loop is held to."""
    parameters = head_parameters(raw_parameters, sizes)
    memory, last = (part if sizes.limit == 0 else _cut(part, sizes.limit) for part in (memory, last))
    weights = address(memory, last, parameters.addressing)
    reads = weights[:, : sizes.read] @ memory
    return HeadsOutput(weights, reads, write(memory, weights[:, sizes.read :], parameters.erase, parameters.add))


def head_parameters(raw_parameters: Tensor, sizes: HeadSizes) -> HeadParameters:
    """The raw head parameters `[B, sum of the parts]`, each part after its activation."""
    key, beta, gate, offsets, gamma, erase, add = raw_parameters.split(sizes.parts(), dim=-1)
    return HeadParameters(
        Addressing(
            torch.tanh(key).unflatten(-1, (-1, sizes.width)),
            F.softplus(beta),
            torch.sigmoid(gate),
            torch.softmax(offsets.unflatten(-1, (-1, sizes.shifts)), dim=-1),
            1 + F.softplus(gamma),
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
