"""How exactly a net that is used, not trained, multiplies by its large matrices.

float32  the default. Where only the highest outputs of a large matrix are wanted, `highest_outputs` finds them by a
         shortlist: those are exact, the others right to five digits (`saccade/runtime/shortlist.py`)
int8     products from whole numbers up to 127 (`saccade/runtime/quantized.py`)
exact    every product in float32, whatever is wanted of it
"""

from collections.abc import Callable, Hashable
from typing import TypeVar

import torch.nn.functional as F
from torch import Tensor, nn

from saccade.runtime import bfloat16, onednn
from saccade.runtime.kernel_conditions import is_bare, is_plain
from saccade.runtime.prepared import Prepared, in_use
from saccade.runtime.quantized import MIN_QUANTIZED_WEIGHTS, Int8Matrix
from saccade.runtime.shortlist import make_shortlist

# To make a `ShortlistMatrix` takes about as long as to multiply so many rows one by one; fewer do not gain by it.
SHORTLIST_AFTER_ROWS = 16

T = TypeVar("T")


def is_quantized() -> bool:
    """Whether products are asked for in int8."""
    return _quantized() is not None


def quantizes(weight: Tensor) -> bool:
    """Whether products with this weight are computed in int8 now."""
    return weight.numel() >= MIN_QUANTIZED_WEIGHTS and is_plain(weight) and _quantized() is not None


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The product x Wᵀ + b, `[..., in]` -> `[..., out]`, in the precision that was asked for."""
    prepared = _quantized() if weight.numel() >= MIN_QUANTIZED_WEIGHTS else None
    if prepared is None or not is_plain(weight):
        return _float_linear(x, weight, bias)
    return _made_of(weight, Int8Matrix, prepared)(x, bias)


def _float_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if bfloat16.trains_in_bfloat16():
        return bfloat16.linear(x, weight, bias)
    return onednn.linear(x, weight, bias) if onednn.takes(x, weight, bias) else F.linear(x, weight, bias)


def apply_linear(layer: nn.Module, x: Tensor, *, rounded: bool = False) -> Tensor:
    """What calling a linear layer gives, in the precision that was asked for, if the layer is nothing but one.

    rounded  in a training in bfloat16, the result may stay in it
    """
    if is_bare(layer, nn.Linear):
        assert isinstance(layer, nn.Linear)
        if rounded and bfloat16.trains_in_bfloat16():
            return bfloat16.linear(x, layer.weight, layer.bias, rounded=True)
        return linear(x, layer.weight, layer.bias)
    return layer(x)


def highest_outputs(x: Tensor, weight: Tensor, bias: Tensor | None, *, count: int, always: int = 0) -> Tensor | None:
    """The product x Wᵀ + b, `[R, in]` -> `[R, out]`, of which the `count` highest of each row and the first are wanted.

    These, `always` of the first, are exact, and the others nearly (`saccade/runtime/shortlist.py`). None where that is
    not faster, and in other precisions than float32.
    """
    prepared = in_use()
    if prepared is None or prepared.precision != "float32":
        return None
    if prepared.rows_so_far(_location(weight), len(x)) <= SHORTLIST_AFTER_ROWS:
        return None
    matrix = _made_of(weight, make_shortlist, prepared)
    return None if matrix is None else matrix.top_k(x, bias, count, always=always)


def _quantized() -> Prepared | None:
    prepared = in_use()
    return None if prepared is None or prepared.precision != "int8" else prepared


def _made_of(weight: Tensor, make: Callable[[Tensor], T], prepared: Prepared) -> T:
    """What `make` gives of a weight, once. The weight is kept beside it, so that no other comes to lie where it is."""
    return prepared.once((make, _location(weight)), lambda: (weight, make(weight)))[1]


def _location(weight: Tensor) -> Hashable:
    return weight.data_ptr(), weight.shape, weight.stride()
