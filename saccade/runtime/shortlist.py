"""A large linear map of which only the highest outputs are wanted: whole numbers propose them, float32 decides.

The product is computed from numbers of 16 bits (`saccade/runtime/quantized.py`), twice as fast as in float32. With |x|
and |w| the lengths of a row and of an output, √K / 2 units is the most that rounding K numbers can change a length by:

    |y' - y| <= B = |x| |w| √K / 32000        (Cauchy and Schwarz; a little more, for the product of both errors)

Whatever is in truth among the C highest of a row is within 2 B of the C-th highest y'. All that is so near is computed
anew in float32, a few dozen of ten thousand, and so the C highest are those of the exact product, and exact. The others
are right to about |x| |w| / 100,000, which is what a softmax over all of them gets to see.
"""

import math
from ctypes import CDLL

import torch
from torch import Tensor

from saccade.runtime.native import KERNELS, call, library_for
from saccade.runtime.quantized import LENGTH, Packed, library_of_integers

_SOURCE = KERNELS / "shortlist.c"

# Below so many numbers a product takes no longer than the search for what is to be computed anew.
SMALLEST = 1 << 19


class ScreenedMatrix:
    """`[R, in]` -> `[R, out]` by a weight `[out, in]`, which must not change while this is used."""

    def __init__(self, weight: Tensor, integers: CDLL, refiner: CDLL) -> None:
        self.weight = weight.contiguous()
        self._refiner = refiner
        self._packed = Packed(self.weight, integers, bits=16)
        # 2 B in units of x: |x| and |w| are 32000 units each, and 1 % more is room for the rounding of floats
        unit = float(self._packed.units.max())  # NaN if there is one: then all outputs are computed anew
        self._slack = 2 * 1.01 * LENGTH * math.sqrt(weight.shape[1]) * unit

    def highest(self, x: Tensor, bias: Tensor | None, count: int, *, always: int = 0) -> Tensor:
        """The product x Wᵀ + b, in which the `count` highest of each row are the right ones, and exact.

        The first `always` outputs are exact as well, however low they are.
        """
        if count < 1 or always < 0:
            raise ValueError(f"count: found {count}, wanted at least 1; always: found {always}, wanted at least 0")
        rows, outputs, count = x.contiguous(), len(self.weight), min(count, len(self.weight))
        bias = None if bias is None else bias.contiguous()
        out, units = self._packed.multiply(rows, bias)
        values, places = (
            rows.new_empty(len(rows), count),
            torch.empty(len(rows), count, dtype=torch.long, device=rows.device),
        )
        call(
            self._refiner.refine_highest,
            (rows, self.weight, bias, units, out, values, places),
            *(*rows.shape, outputs, count, always, self._slack),
        )
        return out


def screened(weight: Tensor) -> ScreenedMatrix | None:
    """A weight beside its whole numbers; None where nothing is gained by them."""
    if not SMALLEST <= weight.numel() > 0:
        return None
    integers, refiner = library_of_integers(weight), library_for(_SOURCE, weight)
    return None if integers is None or refiner is None else ScreenedMatrix(weight, integers, refiner)
