"""How exactly a net that is used, not trained, multiplies by its large matrices.

    with products_in("int8"):
        ...  # searches

Within, what goes through `linear` is computed from whole numbers up to 127: `saccade/int8.py` has the formula.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

import torch
from torch import Tensor

from saccade import bfloat16
from saccade.int8 import Int8Matrix

Precision = Literal["float32", "int8"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

_Matrices = dict[tuple[int, ...], Int8Matrix]  # by where a weight lies, and how

_rounded: ContextVar[_Matrices | None] = ContextVar("rounded", default=None)


@contextmanager
def products_in(precision: Precision) -> Iterator[None]:
    """Multiply in this precision. Each weight is rounded once, at its first use, and must not change until the end."""
    inside = _rounded.get()
    if (inside is not None) == (precision == "int8"):
        yield  # as it is already
        return
    token = _rounded.set({} if precision == "int8" else None)
    try:
        yield
    finally:
        _rounded.reset(token)


def products_are_rounded() -> bool:
    return _rounded.get() is not None and not torch.is_grad_enabled()


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The product x Wᵀ + b, `[..., in]` -> `[..., out]`, in the precision that was asked for."""
    matrices = _rounded.get()
    if matrices is None or torch.is_grad_enabled() or not weight.numel():
        return bfloat16.linear(x, weight, bias)
    where = (weight.data_ptr(), *weight.shape, *weight.stride())
    if where not in matrices:
        matrices[where] = Int8Matrix(weight)
    return matrices[where](x, bias)
