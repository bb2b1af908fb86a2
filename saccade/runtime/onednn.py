"""Products of a training in float32 by oneDNN, where the library that torch multiplies by holds the processor back.

torch's products in float32 are those of MKL, which takes AVX-512 on Intel's processors alone. oneDNN, which is part of
torch as well, takes it wherever it is: on AMD's, half the time for the same product. The numbers are as exact, the sums
taken in another order.

For each new shape oneDNN makes a program first, which takes longer than many products. So it is for trainings whose
batches all have the same shape; where lengths differ from batch to batch, a training took 30 times as long by it.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function

from saccade.runtime.kernel_conditions import is_batched, is_eager, is_plain

# Smaller ones take as long either way.
MIN_MULTIPLICATIONS = 1 << 22

_one_shape: ContextVar[bool] = ContextVar("one_shape", default=False)


@contextmanager
def batches_of_one_shape(wanted: bool) -> Iterator[None]:  # noqa: FBT001 - as the task says
    """Whether all batches have the same shape, of what is computed here."""
    token = _one_shape.set(wanted)
    try:
        yield
    finally:
        _one_shape.reset(token)


@functools.cache
def pays() -> bool:
    """Whether oneDNN is known to be faster here: an x86 processor with AVX-512 that is not Intel's."""
    has: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch cannot say
    name = str(has.get("cpu_name", "Intel"))
    can = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return can and bool(has.get("avx512_f")) and "Intel" not in name


def takes(x: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """Whether `linear` is the way to multiply these."""
    return (
        torch.is_grad_enabled()
        and x.dim() > 1
        and x.numel() * weight.shape[0] >= MIN_MULTIPLICATIONS
        and x.dtype == weight.dtype == torch.float32
        and is_eager()
        and _one_shape.get()  # behind `is_eager`: torch.compile cannot see through a context variable
        and is_plain(x)
        and is_plain(weight)
        and (bias is None or (is_plain(bias) and bias.dtype == torch.float32))
        and torch.backends.mkldnn.enabled  # the user may have switched it off
        and pays()
    )


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The product x Wᵀ + b, `[..., in]` -> `[..., out]`."""
    return _OneDnnLinear.apply(x, weight, bias)


def product(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """A bᵀ, `[N, K]`, `[M, K]` -> `[N, M]`, without a derivative."""
    return torch.ops.mkldnn._linear_pointwise(a, b, bias, "none", [], "")  # noqa: SLF001 - torch has no other name for it


class _OneDnnLinear(Function):
    """y = x Wᵀ + b,    ∂x = ∂y W,    ∂W = ∂yᵀ x,    ∂b = Σ ∂y"""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return product(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, weight = ctx.saved_tensors
        wants_x, wants_weight, wants_bias = ctx.needs_input_grad
        rows, inputs = grad.flatten(0, -2), x.flatten(0, -2)  # [N, out], [N, in]
        again = torch.is_grad_enabled() or is_batched(grad) or not is_eager()  # differentiated, or mapped: by torch
        multiply = F.linear if again else product
        return (
            multiply(grad, weight.t()) if wants_x else None,
            multiply(rows.t(), inputs.t()) if wants_weight else None,
            rows.sum(0) if wants_bias else None,
        )
