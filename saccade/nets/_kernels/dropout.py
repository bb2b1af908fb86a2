"""Dropout (Srivastava 2014) with random numbers that are a function of the place, computed where they are needed.

torch draws the mask of `F.dropout` number after number on one core, which took a sixth of the training time of a small
Transformer, and keeps it for the backward pass. Here the number for an element is a hash of its place and two seeds:
every core works, nothing is stored, and the backward pass computes the same numbers again.

The hash is two rounds of multiply and xor-shift over 32 bits, the constants those of Wellons' `lowbias32`, with one
seed before each round, so that the masks of two calls are not one mask shifted.
"""

from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from saccade.native import call, library_for

_SOURCE = Path(__file__).with_name("dropout.c")
_BITS = 0xFFFFFFFF


class Seeds(NamedTuple):
    """What a mask depends on besides the place: two numbers of 32 bits."""

    first: int
    second: int


def draw_seeds() -> Seeds:
    """New seeds, from torch's own generator."""
    return Seeds(*torch.randint(0, 1 << 32, (2,)).tolist())


def dropout(x: Tensor, probability: float, *, onto: Tensor | None = None) -> Tensor:
    """Zero each element with the given probability, scale the others by 1 / (1 - probability), and add `onto`."""
    return _Dropout.apply(x, onto, probability, draw_seeds())


def drop(x: Tensor, onto: Tensor | None, probability: float, seeds: Seeds) -> Tensor:
    """What `dropout` computes, for given seeds."""
    library = library_for(x, _SOURCE)
    if library is None or (onto is not None and onto.dtype != x.dtype):
        return plain_drop(x, onto, probability, seeds)
    x = x.contiguous()
    out = torch.empty_like(x)
    numbers = (x.numel(), *seeds, round(probability * 2**32), 1 / (1 - probability))
    if onto is None:
        call(library.drop, (x, out), *numbers)
    else:
        call(library.drop_onto, (x, onto.expand_as(x).contiguous(), out), *numbers)
    return out


def plain_drop(x: Tensor, onto: Tensor | None, probability: float, seeds: Seeds) -> Tensor:
    """The same in torch's operations: 32-bit arithmetic by 64-bit numbers."""
    place = torch.arange(x.numel(), device=x.device).view(x.shape)
    mixed = (place * 0x9E3779B1 & _BITS) ^ seeds.first
    mixed = (mixed ^ mixed >> 16) * 0x7FEB352D & _BITS
    mixed = ((mixed ^ mixed >> 15) + seeds.second) * 0x846CA68B & _BITS
    kept = (mixed ^ mixed >> 16) >= round(probability * 2**32)
    dropped = x * (1 / (1 - probability)) * kept
    return dropped if onto is None else onto + dropped


class _Dropout(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, onto: Tensor | None, probability: float, seeds: Seeds) -> Tensor:
        ctx.probability, ctx.seeds = probability, seeds
        return drop(x, onto, probability, seeds)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor | None, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return drop(grad, None, ctx.probability, ctx.seeds), grad if ctx.needs_input_grad[1] else None, None, None
