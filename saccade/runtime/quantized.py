"""Quantized matrices: fewer bytes, and two to four times the speed where the processor multiplies them.

Each output of W and each row of x is scaled and rounded, and the sum of products is exact, so that no row depends on
those beside it, nor on how many there are:

    y[o] = Σ_k x_k w_ok ≈ s_x s_w Σ_k round(x_k / s_x) round(w_ok / s_w)

The scale s follows from the number of bits. With 8, s = max|x| / 127. With 16, s = |x|₂ / 32000: then no number leaves
16 bits and, by Cauchy and Schwarz, no sum leaves 32.
"""

import functools
import logging
from ctypes import CDLL

import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.runtime.kernel_conditions import is_plain
from saccade.runtime.native import KERNELS, call, library_for

logger = logging.getLogger("saccade")

# Smaller ones lie in the processor's cache, and to quantize their inputs takes as long as the product.
MIN_QUANTIZED_WEIGHTS = 1 << 16

_SOURCE = KERNELS / "quantized.c"
_WIDTH = 48  # outputs of a block, as in the C file
_QUANT_MAX = 127
_MAX_INPUTS = (1 << 31) // (255 * _QUANT_MAX)  # of 8 bits, whose products sum up to no more than 32 bits hold
INT16_NORM = 32_000  # L2 norm of a quantized row, with 16 bits; as in the C file


class PackedWeight:
    """A weight `[out, in]` quantized, and laid out as the C loops want it. It must not change while this is used."""

    def __init__(self, weight: Tensor, library: CDLL, *, bits: int) -> None:
        _expect_matrix(weight)
        if bits not in (8, 16):
            raise ValueError(f"bits: found {bits}, wanted 8 or 16")
        self._library = library
        self._wide = int(bits == 16)
        self._outputs, self._inputs = weight.shape
        self._groups = -(-self._inputs * bits // 32)  # of 32 bits, in a row
        blocks = -(-self._outputs // _WIDTH)
        self._packed = torch.zeros(blocks * _WIDTH * self._groups, dtype=torch.int32, device="cpu")
        self.scales = weight.new_zeros(blocks * _WIDTH)
        self._offsets = torch.zeros(blocks * _WIDTH, dtype=torch.int32, device="cpu")
        workspace = torch.empty(self._outputs * self._groups, dtype=torch.int32, device="cpu")
        sizes = (self._outputs, self._inputs, self._wide)
        call(library.pack_quantized, (weight.contiguous(), self._packed, self.scales, self._offsets, workspace), *sizes)

    def multiply(self, rows: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
        """The product with rows `[R, in]`, `[R, out]`, and the scale of each row, `[R]`."""
        if rows.dim() != 2 or rows.shape[1] != self._inputs or rows.dtype != torch.float32:
            raise ValueError(f"x: found shape {list(rows.shape)} of {rows.dtype}, wanted [rows, {self._inputs}]")
        if bias is not None and (tuple(bias.shape) != (self._outputs,) or bias.dtype != torch.float32):
            raise ValueError(f"bias: found shape {list(bias.shape)} of {bias.dtype}, wanted [{self._outputs}]")
        out = rows.new_empty(len(rows), self._outputs)
        workspace, scales = self._packed.new_empty(len(rows) * self._groups), rows.new_empty(len(rows))
        bias = None if bias is None else bias.contiguous()
        rows = rows.contiguous()
        call(
            self._library.linear_quantized,
            (rows, self._packed, self.scales, self._offsets, bias, out, workspace, scales),
            *(len(rows), self._inputs, self._outputs, self._wide),
        )
        return out, scales


class Int8Matrix:
    """`[..., in]` -> `[..., out]` by a weight `[out, in]` in int8, which must not change while this is used."""

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight  # kept, so that no other comes to lie where it is
        _expect_matrix(weight)
        library = quantized_library(weight) if weight.shape[1] <= _MAX_INPUTS else None
        if library is None:
            _warn_that_int8_is_slow()
        self._quantized = quantize_rows(weight) if library is None else PackedWeight(weight, library, bits=8)

    def __call__(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """The product x Wᵀ + b."""
        outputs, inputs = self.weight.shape
        if x.dim() == 0 or x.shape[-1] != inputs or x.dtype != self.weight.dtype:
            raise ValueError(
                f"x: found shape {list(x.shape)} of {x.dtype}, wanted [..., {inputs}] of {self.weight.dtype}"
            )
        if bias is not None and (bias.shape != (outputs,) or bias.dtype != x.dtype):
            raise ValueError(f"bias: found shape {list(bias.shape)} of {bias.dtype}, wanted [{outputs}] of {x.dtype}")
        if not isinstance(self._quantized, PackedWeight):
            return plain_quantized_linear(x, *self._quantized, bias)
        if not is_plain(x) or (bias is not None and not is_plain(bias)):
            return F.linear(x, self.weight, bias)
        out, _ = self._quantized.multiply(x.reshape(x.shape[:-1].numel(), inputs), bias)
        return out.view(*x.shape[:-1], outputs)


def _expect_matrix(weight: Tensor) -> None:
    if weight.dim() != 2 or weight.dtype != torch.float32:
        raise ValueError(f"weight: found shape {list(weight.shape)} of {weight.dtype}, wanted [out, in] of float32")


def quantize_rows(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows in int8 `[..., size]`, as floats, and the scale of each, `[...]`."""
    if not rows.shape[-1]:
        return rows, rows.new_zeros(rows.shape[:-1])
    largest = rows.abs().amax(-1, keepdim=True)
    quant_max = largest.new_tensor(_QUANT_MAX)  # a scalar would be times 1 / largest
    inverse_scale = torch.where(largest > 0, quant_max / largest, 0)
    inverse_scale = torch.where(inverse_scale.isinf(), 0, inverse_scale)  # of numbers that are too small
    return (rows * inverse_scale).round(), torch.where(inverse_scale > 0, 1 / inverse_scale, 0)[..., 0]


def plain_quantized_linear(x: Tensor, weight: Tensor, scales: Tensor, bias: Tensor | None) -> Tensor:
    """The same product in torch's operations: `[..., in]`, `[out, in]`, `[out]`, `[out]` -> `[..., out]`."""
    quantized, x_scales = quantize_rows(x)
    product = F.linear(quantized, weight) * (x_scales[..., None] * scales)
    return product if bias is None else product + bias


def quantized_library(weight: Tensor) -> CDLL | None:
    """The loops, if they can work on this weight on this machine."""
    library = library_for(_SOURCE, weight) if weight.dtype == torch.float32 else None
    return library if library is not None and _is_supported(library) else None


@functools.cache
def _is_supported(library: CDLL) -> bool:
    return bool(library.supports_quantized())


@functools.cache
def _warn_that_int8_is_slow() -> None:
    logger.warning("int8: nothing here multiplies it (AVX-512 VNNI and a C compiler would); it will not be faster")
