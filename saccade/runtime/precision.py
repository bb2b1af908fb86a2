"""How exactly a net that is used, not trained, multiplies by its large matrices.

    with products_in("int8"):
        ...  # searches

Within, what goes through `linear` is computed in int8: `saccade/runtime/quantized.py` has the
formula. In "float32" it is not, but a large matrix of which only the highest outputs are wanted goes by
`highest_outputs`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

import torch
from torch import Tensor, nn

from saccade.runtime import bfloat16
from saccade.runtime.eager import is_bare, is_eager, is_plain
from saccade.runtime.quantized import Int8Matrix
from saccade.runtime.shortlist import ShortlistMatrix, make_shortlist

Precision = Literal["float32", "int8"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

# To make a `ShortlistMatrix` takes about as long as to multiply so many rows one by one; fewer do not gain by it.
SHORTLIST_AFTER_ROWS = 16

_Where = tuple[int, ...]  # where a weight lies, and how

T = TypeVar("T")


@dataclass
class _Products:
    """What products are computed in, and what was made of weights for them."""

    precision: Precision
    rounded: dict[_Where, Int8Matrix] = field(default_factory=dict)
    shortlists: dict[_Where, ShortlistMatrix | None] = field(default_factory=dict)
    rows_asked: Counter[_Where] = field(default_factory=Counter)  # of weights whose highest outputs were wanted
    kept: dict[int, tuple[nn.Module, Any]] = field(default_factory=dict)  # by the identity of the module, which stays


_products: ContextVar[_Products | None] = ContextVar("products", default=None)


@contextmanager
def products_in(precision: Precision) -> Iterator[None]:
    """Multiply in this precision.

    What is made of a net is made once: until the end its weights must not change, and no hooks be added.
    """
    inside = _products.get()
    if inside is not None and inside.precision == precision:
        yield  # as it is already
        return
    token = _products.set(_Products(precision))
    try:
        yield
    finally:
        _products.reset(token)


def kept(module: nn.Module, make: Callable[[], T]) -> T:
    """What `make` gives of a module: once within `products_in`, and anew for each call elsewhere.

    There, nobody knows whether weights have changed: a fused optimizer does it without a trace.
    """
    products = _products_now()
    if products is None:
        return make()
    if id(module) not in products.kept:
        products.kept[id(module)] = module, make()
    return products.kept[id(module)][1]


def products_are_rounded() -> bool:
    return _rounded() is not None


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The product x Wᵀ + b, `[..., in]` -> `[..., out]`, in the precision that was asked for."""
    matrices = _rounded()
    if matrices is None or not weight.numel() or not is_plain(weight):
        return bfloat16.linear(x, weight, bias)
    where = _where(weight)
    if where not in matrices:
        matrices[where] = Int8Matrix(weight)
    return matrices[where](x, bias)


def through(layer: nn.Module, x: Tensor) -> Tensor:
    """What calling a linear layer gives, in the precision that was asked for, if the layer is nothing but one."""
    if is_bare(layer, nn.Linear):
        assert isinstance(layer, nn.Linear)
        return linear(x, layer.weight, layer.bias)
    return layer(x)


def highest_outputs(x: Tensor, weight: Tensor, bias: Tensor | None, *, count: int, always: int = 0) -> Tensor | None:
    """The product x Wᵀ + b, `[R, in]` -> `[R, out]`, of which the `count` highest of each row and the first are wanted.

    These, `always` of the first, are exact, and the others nearly (`saccade/runtime/shortlist.py`). None where that is
    not faster, and in int8.
    """
    products = _products_now()
    if products is None or products.precision != "float32":
        return None
    where = _where(weight)
    products.rows_asked[where] += len(x)
    if products.rows_asked[where] <= SHORTLIST_AFTER_ROWS:
        return None
    if where not in products.shortlists:
        products.shortlists[where] = make_shortlist(weight)
    matrix = products.shortlists[where]
    return None if matrix is None else matrix.top_k(x, bias, count, always=always)


def _rounded() -> dict[_Where, Int8Matrix] | None:
    products = _products_now()
    return None if products is None or products.precision != "int8" else products.rounded


def _products_now() -> _Products | None:
    # first what torch.compile can see through; it cannot see through a context variable
    if torch.compiler.is_compiling() or _products.get() is None or torch.is_grad_enabled() or not is_eager():
        return None
    return _products.get()


def _where(weight: Tensor) -> _Where:
    return weight.data_ptr(), *weight.shape, *weight.stride()
