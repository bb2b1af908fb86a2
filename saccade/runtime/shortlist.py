"""A large linear map of which only the highest outputs are wanted: int16 proposes a shortlist, float32 decides.

The product is computed in int16 (`saccade/runtime/quantized.py`), twice as fast as in float32. With |x| and |w| the
norms of a row and of an output, rounding K numbers can change a norm by √K / 2 scales at most:

    |y' - y| <= B = |x| |w| √K / 32000        (Cauchy and Schwarz; a little more, for the product of both errors)

Whatever is in truth among the C highest of a row is within 2 B of the C-th highest y'. All that is so near is the
shortlist, a few dozen of ten thousand; it is computed anew in float32, and so the C highest are those of the exact
product, and exact. The others are right to about |x| |w| / 100,000, which is what a softmax over all of
them gets to see.
"""

import math
from ctypes import CDLL

import torch
from torch import Tensor

from saccade.runtime.native import KERNELS, call, library_for
from saccade.runtime.quantized import INT16_NORM, PackedWeight, quantized_library

_SOURCE = KERNELS / "shortlist.c"

# Below so many numbers a product takes no longer than the search for what is to be computed anew.
MIN_WEIGHTS = 1 << 19


class ShortlistMatrix:
    """`[R, in]` -> `[R, out]` by a weight `[out, in]`, which must not change while this is used."""

    def __init__(self, weight: Tensor, quantized: CDLL, refiner: CDLL) -> None:
        self.weight = weight.contiguous()
        self._refiner = refiner
        self._packed = PackedWeight(self.weight, quantized, bits=16)
        # 2 B in scales of x: |x| and |w| are 32000 scales each, and 1 % more is room for the rounding of floats
        scale = float(self._packed.scales.max())  # NaN if there is one: then all outputs are computed anew
        self._slack = 2 * 1.01 * INT16_NORM * math.sqrt(weight.shape[1]) * scale

    def top_k(self, x: Tensor, bias: Tensor | None, count: int, *, always: int = 0) -> Tensor:
        """The product x Wᵀ + b, in which the `count` highest of each row are the right ones, and exact.

        The first `always` outputs are exact as well, however low they are.
        """
        if count < 1 or always < 0:
            raise ValueError(f"count: found {count}, wanted at least 1; always: found {always}, wanted at least 0")
        rows, outputs, count = x.contiguous(), len(self.weight), min(count, len(self.weight))
        bias = None if bias is None else bias.contiguous()
        out, scales = self._packed.multiply(rows, bias)
        values = rows.new_empty(len(rows), count)
        indices = torch.empty(len(rows), count, dtype=torch.long, device=rows.device)
        call(
            self._refiner.refine_top_k,
            (rows, self.weight, bias, scales, out, values, indices),
            *(*rows.shape, outputs, count, always, self._slack),
        )
        return out


def make_shortlist(weight: Tensor) -> ShortlistMatrix | None:
    """A weight beside its int16 numbers; None where nothing is gained by them."""
    if not MIN_WEIGHTS <= weight.numel() > 0:
        return None
    quantized, refiner = quantized_library(weight), library_for(_SOURCE, weight)
    return None if quantized is None or refiner is None else ShortlistMatrix(weight, quantized, refiner)
