"""Training with products in bfloat16: half the bits, twice as fast on a processor that has them.

    with training_precision("bfloat16"):
        loss = ...  # the forward pass; the backward pass may come after

The factors of a product are rounded to 8 bits of precision (their range is that of float32), and so is its result. All
else stays in float32: weights, their gradients, sums, norms, softmax, the optimizer. There are no small numbers to
lose, so no loss has to be scaled (Kalamkar 2019).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from saccade.runtime.kernel_conditions import is_bare, is_eager
from saccade.runtime.operators import first_order_only

TrainingPrecision = Literal["float32", "bfloat16"]

_in_bfloat16: ContextVar[bool] = ContextVar("in_bfloat16", default=False)


@contextmanager
def training_precision(precision: TrainingPrecision) -> Iterator[None]:
    """Compute what a gradient will be wanted of in this precision, where a net has a way for it."""
    token = _in_bfloat16.set(precision == "bfloat16")
    try:
        yield
    finally:
        _in_bfloat16.reset(token)


def trains_in_bfloat16() -> bool:
    # first what torch.compile can see through; it cannot see through a context variable
    return not torch.compiler.is_compiling() and _in_bfloat16.get() and torch.is_grad_enabled() and is_eager()


def slow_without_bfloat16() -> bool:
    """Whether such products are known to be slower here, not faster: an x86 processor without instructions for them."""
    has: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch cannot say
    return has.get("architecture") == "x86_64" and not (has.get("avx512_bf16") or has.get("amx_bf16"))


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, rounded: bool = False) -> Tensor:
    """The product x Wᵀ + b, `[..., in]` -> `[..., out]`, in the precision that training asks for.

    rounded  the result may stay in bfloat16, and its gradient come in it: half the memory to write and to read
    """
    return _Bfloat16Linear.apply(x, weight, bias, rounded) if trains_in_bfloat16() else F.linear(x, weight, bias)


def apply_linear(layer: nn.Module, x: Tensor) -> Tensor:
    """What calling a linear layer gives, in the precision that training asks for: `[..., in]` -> `[..., out]`.

    The layer stays a plain `nn.Linear`, for all that looks for those by their class and puts others in their place, as
    `torch.ao.quantization.quantize_dynamic` does. Whatever is there then is called as it is.
    """
    if trains_in_bfloat16() and is_bare(layer, nn.Linear):
        assert isinstance(layer, nn.Linear)
        return linear(x, layer.weight, layer.bias)
    return layer(x)


class _Bfloat16Linear(Function):
    """y = x Wᵀ + b,    ∂x = ∂y W,    ∂W = ∂yᵀ x,    ∂b = Σ ∂y"""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, rounded: bool) -> Tensor:  # noqa: FBT001
        rows, factor = x.reshape(-1, x.shape[-1]).bfloat16(), weight.bfloat16()  # [N, in], [out, in]
        ctx.save_for_backward(rows, factor)
        ctx.has_bias, ctx.x_dtype, ctx.weight_dtype = bias is not None, x.dtype, weight.dtype
        if rounded:
            y = F.linear(rows, factor, None if bias is None else bias.bfloat16())
        else:
            y = (rows @ factor.t()).to(weight.dtype)
            if bias is not None:
                y += bias
        return y.view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        rows, factor = ctx.saved_tensors
        exact = grad.reshape(-1, grad.shape[-1])  # [N, out]
        coarse = exact.bfloat16()
        grad_x = (coarse @ factor).to(ctx.x_dtype).view(*grad.shape[:-1], factor.shape[1])
        grad_weight = (coarse.t() @ rows).to(ctx.weight_dtype)
        grad_bias = exact.sum(0, dtype=ctx.weight_dtype) if ctx.has_bias else None
        return first_order_only("a product in bfloat16", (grad_x, grad_weight, grad_bias, None), grad)
