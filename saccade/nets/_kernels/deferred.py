"""A linear map that is used step after step, and gets its weight's gradient in one product at the end.

Left to itself, autograd makes a whole `[out, in]` gradient at each step, from a few dozen rows, and adds them up: slow
products, and as many passes over the memory of the weight as there are steps. Here each step's backward pass puts its
two factors aside, and one product of all of them gives the same sum:

    ∂W = Σ_t ∂y_tᵀ x_t = [∂y_1; ...; ∂y_T]ᵀ [x_1; ...; x_T]
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from saccade.bfloat16 import learns_in_bfloat16
from saccade.precision import linear

_Factors = list[tuple[Tensor, Tensor]]  # of each step, x [B, in] and ∂y [B, out]


class DeferredLinear:
    """`y = x Wᵀ` for rows `[B, in]`, to be made anew for each pass over a sequence."""

    def __init__(self, weight: Tensor) -> None:
        self.defers = torch.is_grad_enabled() and weight.requires_grad
        self._factors: _Factors = []
        # As it is multiplied: rounded once for all steps, if it is to be coarser.
        self._factor = weight.detach().bfloat16() if learns_in_bfloat16() else weight.detach()
        self._weight = _Collect.apply(weight, self._factors, self._factor.dtype) if self.defers else weight

    def __call__(self, x: Tensor) -> Tensor:
        if self.defers:
            return _Use.apply(x, self._weight, self._factors, self._factor)
        return linear(x, self._weight)


class _Collect(Function):
    """Stands between the weight and its uses, so that its backward pass comes after all of theirs."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, factors: _Factors, product_dtype: torch.dtype) -> Tensor:
        ctx.factors, ctx.product_dtype = factors, product_dtype
        return weight.view_as(weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not ctx.factors:
            return grad, None, None  # no step had a part in what is derived
        inputs, grads = zip(*ctx.factors, strict=True)
        ctx.factors.clear()
        product = torch.cat(grads).to(ctx.product_dtype).t() @ torch.cat(inputs).to(ctx.product_dtype)
        return product.to(grad.dtype), None, None


class _Use(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, factors: _Factors, factor: Tensor) -> Tensor:
        ctx.save_for_backward(x, factor)
        ctx.factors = factors
        return F.linear(x.to(factor.dtype), factor).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, factor = ctx.saved_tensors
        ctx.factors.append((x, grad))
        return (grad.to(factor.dtype) @ factor).to(grad.dtype), None, None, None
