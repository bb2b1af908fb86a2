"""A matrix of small integers: a quarter of the bytes, and four times the speed where the processor multiplies them.

Each output of W and each row of x is rounded to whole numbers from -127 to 127, after its largest was made 127:

    y[o] = Σ_k x_k w_ok ≈ Σ_k round(127 x_k / max|x|) round(127 w_ok / max|w_o|) · max|x| / 127 · max|w_o| / 127

The sum is exact, so that no row depends on those beside it, nor on how many there are.
"""

import functools
import logging
from ctypes import CDLL
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.native import call, library_for

logger = logging.getLogger("saccade")

_SOURCE = Path(__file__).with_name("int8.c")
_WIDTH = 48  # outputs of a block, as in the C file
_LARGEST = 127


class Int8Matrix:
    """`[..., in]` -> `[..., out]` by a weight `[out, in]`, which must not change while this is used."""

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight  # kept, so that no other comes to lie where it is
        self._library = _library(weight)
        if self._library is None:
            self._plain = round_rows(weight)
            return
        self._outputs, self._inputs = weight.shape
        blocks = -(-self._outputs // _WIDTH)
        self._packed = torch.zeros(blocks * _WIDTH * self._padded, dtype=torch.int8)
        self._units = weight.new_zeros(blocks * _WIDTH)
        self._shifts = torch.zeros(blocks * _WIDTH, dtype=torch.int32)
        room = torch.empty(self._outputs * self._padded, dtype=torch.uint8)
        rows = weight if weight.stride(1) == 1 else weight.contiguous()
        sizes = (self._outputs, self._inputs, rows.stride(0))
        call(self._library.pack_int8, (rows, self._packed, self._units, self._shifts, room), *sizes)

    def __call__(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """The product x Wᵀ + b."""
        if self._library is None:
            return plain_product(x, *self._plain, bias)
        rows = x.flatten(0, -2).contiguous()
        out = rows.new_empty(len(rows), self._outputs)
        room, units = self._packed.new_empty(len(rows) * self._padded), rows.new_empty(len(rows))
        bias = None if bias is None else bias.contiguous()
        call(
            self._library.linear_int8,
            (rows, self._packed, self._units, self._shifts, bias, out, room, units),
            *(len(rows), self._inputs, self._outputs),
        )
        return out.view(*x.shape[:-1], self._outputs)

    @property
    def _padded(self) -> int:
        """Numbers of a row, filled up to fours."""
        return -(-self._inputs // 4) * 4


def round_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers `[..., size]`, and what a unit of each row is worth, `[...]`."""
    largest = rows.abs().amax(-1, keepdim=True)
    factor = torch.where(largest > 0, largest.new_tensor(_LARGEST) / largest, 0)  # a scalar would be times 1 / largest
    return (rows * factor).round(), torch.where(factor > 0, 1 / factor, 0)[..., 0]


def plain_product(x: Tensor, numbers: Tensor, units: Tensor, bias: Tensor | None) -> Tensor:
    """The same product in torch's operations: `[..., in]`, `[out, in]`, `[out]`, `[out]` -> `[..., out]`."""
    rounded, of_x = round_rows(x)
    product = F.linear(rounded, numbers) * (of_x[..., None] * units)
    return product if bias is None else product + bias


def _library(weight: Tensor) -> CDLL | None:
    """The loops, if they can work on this weight on this machine."""
    library = library_for(weight, _SOURCE) if weight.dtype == torch.float32 else None
    return library if library is not None and _multiplies(library) else None


@functools.cache
def _multiplies(library: CDLL) -> bool:
    able = bool(library.multiplies_int8())
    if not able:
        logger.warning("int8: this processor cannot multiply it (AVX-512 VNNI); it will not be faster")
    return able
