"""Dropout (Srivastava 2014) with random numbers that are a function of its index: `dropout.c` as an operator.

torch draws the mask of `F.dropout` number after number on one core, which took a sixth of the training time of a small
Transformer, and keeps it for the backward pass. Here the number for an element is a hash of its index and two seeds:
every core works, nothing is stored, and the backward pass computes the same numbers again.

The hash is two rounds of multiply and xor-shift over 32 bits, the constants those of Wellons' `lowbias32`, with one
seed before each round, so that the masks of two calls are not one mask shifted.
"""

from typing import Any

import torch
from torch import Tensor

from saccade.runtime.native import KERNELS, call, library_for
from saccade.runtime.operators import define, expect, expect_numbers

SOURCE = KERNELS / "dropout.c"
_BITS = 0xFFFFFFFF


def _drop(x: Tensor, onto: Tensor | None, probability: float, first: int, second: int) -> Tensor:
    expect(0 <= probability <= 1, f"probability: found {probability}, wanted 0 to 1")
    expect(0 <= first <= _BITS, f"first: found {first}, wanted a seed of 32 bits, 0 to {_BITS}")
    expect(0 <= second <= _BITS, f"second: found {second}, wanted a seed of 32 bits, 0 to {_BITS}")
    expect_numbers("x", x, onto=onto)
    x = x.contiguous()
    if onto is not None:
        onto = _expanded(onto, x).contiguous()
    threshold = round(probability * 2**32)
    if threshold > _BITS:  # all of them; and more than the loop's numbers of 32 bits hold
        return torch.zeros_like(x) if onto is None else onto.clone()
    library = library_for(SOURCE, x, onto)
    if library is None:
        return torch_drop(x, onto, probability, first, second)
    out = torch.empty_like(x)
    numbers = (x.numel(), first, second, threshold, 1 / (1 - probability))
    if onto is None:
        call(library.drop, (x, out), *numbers)
    else:
        call(library.drop_onto, (x, onto, out), *numbers)
    return out


def _expanded(onto: Tensor, x: Tensor) -> Tensor:
    try:
        return onto.expand_as(x)
    except RuntimeError:
        raise ValueError(
            f"onto: found shape {list(onto.shape)}, wanted one that expands to {list(x.shape)}, the shape of x"
        ) from None


def torch_drop(x: Tensor, onto: Tensor | None, probability: float, first: int, second: int) -> Tensor:
    """The loops of `dropout.c` in torch's operations: 32-bit arithmetic by 64-bit numbers."""
    index = torch.arange(x.numel(), device=x.device).view(x.shape)
    mixed = (index * 0x9E3779B1 & _BITS) ^ first
    mixed = (mixed ^ mixed >> 16) * 0x7FEB352D & _BITS
    mixed = ((mixed ^ mixed >> 15) + second) * 0x846CA68B & _BITS
    kept = (mixed ^ mixed >> 16) >= round(probability * 2**32)
    dropped = x * (1 / (1 - probability)) * kept
    return dropped if onto is None else onto + dropped


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    _, onto, *ctx.how = inputs
    ctx.onto = None if onto is None else onto.shape


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    # a derivative of any order is the same operator again, as it is linear in x
    return drop(grad, None, *ctx.how), None if ctx.onto is None else grad.sum_to_size(ctx.onto), None, None, None


# x with the given probability zeroed, the others scaled by 1 / (1 - probability), added to `onto`
drop = define(
    "drop(Tensor x, Tensor? onto, float probability, int first, int second) -> Tensor",
    _drop,
    fake=lambda x, onto, probability, first, second: torch.empty_like(x, memory_format=torch.contiguous_format),
    setup=_keep,
    backward=_backward,
)
