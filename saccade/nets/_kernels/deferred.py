"""A linear map that is used step after step, and gets its weight's gradient in one product at the end.

Left to itself, autograd makes a whole `[out, in]` gradient at each step, from a few dozen rows, and adds them up: slow
products, and as many passes over the memory of the weight as there are steps. Here each step's backward pass puts its
two factors aside, and one product of all of them gives the same sum:

    ∂W = Σ_t ∂y_tᵀ x_t = [∂y_1; ...; ∂y_T]ᵀ [x_1; ...; x_T]

Factors are put aside by the number of the backward pass that they belong to, so that one which asks for the inputs'
gradients alone, or breaks off, leaves nothing for the next one to count again.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from saccade.runtime.bfloat16 import trains_in_bfloat16
from saccade.runtime.kernel_conditions import is_eager, is_plain
from saccade.runtime.linear import linear
from saccade.runtime.operators import first_order_only

_Factors = dict[int, list[tuple[Tensor, Tensor]]]  # of each backward pass and step, x [B, in] and ∂y [B, out]


class DeferredLinear:
    """`y = x Wᵀ` for rows `[B, in]`, to be made anew for each pass over a sequence."""

    def __init__(self, weight: Tensor) -> None:
        self.defers = torch.is_grad_enabled() and weight.requires_grad and is_eager() and is_plain(weight)
        self._factors: _Factors = {}
        self._weight = weight
        if self.defers:
            # As it is multiplied: rounded once for all steps, if it is to be coarser.
            self._factor = weight.detach().bfloat16() if trains_in_bfloat16() else weight.detach()
            self._weight = _Collect.apply(weight, self._factors, self._factor.dtype)

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
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        factors = ctx.factors.pop(_this_pass(), None)
        if not factors:
            return grad, None, None  # no step had a part in what is derived
        inputs, grads = zip(*factors, strict=True)
        with torch.no_grad():
            product = torch.cat(grads).to(ctx.product_dtype).t() @ torch.cat(inputs).to(ctx.product_dtype)
        return *first_order_only("a recurrent decoder", (product.to(grad.dtype),), *inputs, *grads), None, None


class _Use(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, factors: _Factors, factor: Tensor) -> Tensor:
        ctx.save_for_backward(x, factor)
        ctx.factors = factors
        return F.linear(x.to(factor.dtype), factor).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, factor = ctx.saved_tensors
        collect = ctx.next_functions[1][0]  # where the gradient of the weight would go
        if torch._C._will_engine_execute_node(collect):  # noqa: SLF001 - torch has no other name for it
            ctx.factors.setdefault(_this_pass(), []).append((x, grad))
        with torch.no_grad():
            grad_x = (grad.to(factor.dtype) @ factor).to(grad.dtype)
        return *first_order_only("a recurrent decoder", (grad_x,), x, grad), None, None, None


def _this_pass() -> int:
    """The number of the backward pass that is under way."""
    return torch._C._current_graph_task_id()  # noqa: SLF001 - torch has no other name for it
