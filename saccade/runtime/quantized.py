"""Matrices of whole numbers: fewer bytes, and two to four times the speed where the processor multiplies them.

Each output of W and each row of x is scaled and rounded, and the sum of products is exact, so that no row depends on
those beside it, nor on how many there are:

    y[o] = Σ_k x_k w_ok ≈ u_x u_w Σ_k round(x_k / u_x) round(w_ok / u_w)

What a unit u is worth follows from the number of bits. With 8, u = max|x| / 127. With 16, u = |x|₂ / 32000: then no
number leaves 16 bits and, by Cauchy and Schwarz, no sum leaves 32.
"""

import functools
import logging
from ctypes import CDLL

import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.runtime.eager import is_plain
from saccade.runtime.native import KERNELS, call, library_for

logger = logging.getLogger("saccade")

_SOURCE = KERNELS / "quantized.c"
_WIDTH = 48  # outputs of a block, as in the C file
_LARGEST = 127
_MOST_INPUTS = (1 << 31) // (255 * _LARGEST)  # of 8 bits, whose products sum up to no more than 32 bits hold
LENGTH = 32_000  # of a row in units, with 16 bits; as in the C file


class Packed:
    """A weight `[out, in]` as the C loops want it. It must not change while this is used."""

    def __init__(self, weight: Tensor, library: CDLL, *, bits: int) -> None:
        _expect_matrix(weight)
        if bits not in (8, 16):
            raise ValueError(f"bits: found {bits}, wanted 8 or 16")
        self._library = library
        self._wide = int(bits == 16)
        self._outputs, self._inputs = weight.shape
        self._groups = -(-self._inputs * bits // 32)  # of 32 bits, in a row
        blocks = -(-self._outputs // _WIDTH)
        self._numbers = torch.zeros(blocks * _WIDTH * self._groups, dtype=torch.int32, device="cpu")
        self.units = weight.new_zeros(blocks * _WIDTH)
        self._shifts = torch.zeros(blocks * _WIDTH, dtype=torch.int32, device="cpu")
        room = torch.empty(self._outputs * self._groups, dtype=torch.int32, device="cpu")
        sizes = (self._outputs, self._inputs, self._wide)
        call(library.pack_integers, (weight.contiguous(), self._numbers, self.units, self._shifts, room), *sizes)

    def multiply(self, rows: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
        """The product with rows `[R, in]`, `[R, out]`, and what a unit of each row was worth, `[R]`."""
        if rows.dim() != 2 or rows.shape[1] != self._inputs or rows.dtype != torch.float32:
            raise ValueError(f"x: found shape {list(rows.shape)} of {rows.dtype}, wanted [rows, {self._inputs}]")
        if bias is not None and (tuple(bias.shape) != (self._outputs,) or bias.dtype != torch.float32):
            raise ValueError(f"bias: found shape {list(bias.shape)} of {bias.dtype}, wanted [{self._outputs}]")
        out = rows.new_empty(len(rows), self._outputs)
        room, units = self._numbers.new_empty(len(rows) * self._groups), rows.new_empty(len(rows))
        bias = None if bias is None else bias.contiguous()
        rows = rows.contiguous()
        call(
            self._library.linear_integers,
            (rows, self._numbers, self.units, self._shifts, bias, out, room, units),
            *(len(rows), self._inputs, self._outputs, self._wide),
        )
        return out, units


class Int8Matrix:
    """`[..., in]` -> `[..., out]` by a weight `[out, in]` of 8 bits, which must not change while this is used."""

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight  # kept, so that no other comes to lie where it is
        _expect_matrix(weight)
        library = library_of_integers(weight) if weight.shape[1] <= _MOST_INPUTS else None
        if library is None:
            _say_that_int8_is_slow()
        self._numbers = round_rows(weight) if library is None else Packed(weight, library, bits=8)

    def __call__(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """The product x Wᵀ + b."""
        outputs, inputs = self.weight.shape
        if x.dim() == 0 or x.shape[-1] != inputs or x.dtype != self.weight.dtype:
            raise ValueError(
                f"x: found shape {list(x.shape)} of {x.dtype}, wanted [..., {inputs}] of {self.weight.dtype}"
            )
        if bias is not None and (bias.shape != (outputs,) or bias.dtype != x.dtype):
            raise ValueError(f"bias: found shape {list(bias.shape)} of {bias.dtype}, wanted [{outputs}] of {x.dtype}")
        if not isinstance(self._numbers, Packed):
            return plain_product(x, *self._numbers, bias)
        if not is_plain(x) or (bias is not None and not is_plain(bias)):
            return F.linear(x, self.weight, bias)
        out, _ = self._numbers.multiply(x.reshape(x.shape[:-1].numel(), inputs), bias)
        return out.view(*x.shape[:-1], outputs)


def _expect_matrix(weight: Tensor) -> None:
    if weight.dim() != 2 or weight.dtype != torch.float32:
        raise ValueError(f"weight: found shape {list(weight.shape)} of {weight.dtype}, wanted [out, in] of float32")


def round_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers of 8 bits `[..., size]`, and what a unit of each row is worth, `[...]`."""
    if not rows.shape[-1]:
        return rows, rows.new_zeros(rows.shape[:-1])
    largest = rows.abs().amax(-1, keepdim=True)
    factor = torch.where(largest > 0, largest.new_tensor(_LARGEST) / largest, 0)  # a scalar would be times 1 / largest
    factor = torch.where(factor.isinf(), 0, factor)  # of numbers that are too small
    return (rows * factor).round(), torch.where(factor > 0, 1 / factor, 0)[..., 0]


def plain_product(x: Tensor, numbers: Tensor, units: Tensor, bias: Tensor | None) -> Tensor:
    """The same product in torch's operations: `[..., in]`, `[out, in]`, `[out]`, `[out]` -> `[..., out]`."""
    rounded, of_x = round_rows(x)
    product = F.linear(rounded, numbers) * (of_x[..., None] * units)
    return product if bias is None else product + bias


def library_of_integers(weight: Tensor) -> CDLL | None:
    """The loops, if they can work on this weight on this machine."""
    library = library_for(_SOURCE, weight) if weight.dtype == torch.float32 else None
    return library if library is not None and _multiplies(library) else None


@functools.cache
def _multiplies(library: CDLL) -> bool:
    return bool(library.multiplies_integers())


@functools.cache
def _say_that_int8_is_slow() -> None:
    logger.warning("int8: nothing here multiplies it (AVX-512 VNNI and a C compiler would); it will not be faster")
