"""Vectors brought to one length, with a backward pass that takes no more memory than its result."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

# Shorter vectors than this have no direction.
_SHORTEST = 1e-8


def plain_to_length(x: Tensor, length: Tensor) -> Tensor:
    """The formula as it stands; what the fast path is held to."""
    return length * x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)


def to_length(x: Tensor, length: Tensor) -> Tensor:
    """`length · x / |x|` over the last dimension, for a number `length`.

    A vector of zeros stays as it is and passes no gradient on: it has no direction that could be turned.
    """
    return _ToLength.apply(x, length)


class _ToLength(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, length: Tensor) -> Tensor:
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        inverse = norm.reciprocal().masked_fill_(norm < _SHORTEST, 0.0)
        ctx.save_for_backward(x, inverse, length)
        return x * (inverse * length)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, inverse, length = ctx.saved_tensors
        work = grad * x
        along = work.sum(-1, keepdim=True) * inverse  # the part of the gradient that only lengthens the vector
        torch.mul(x, along * inverse, out=work)
        torch.sub(grad, work, out=work)
        return work.mul_(inverse * length), along.sum()
