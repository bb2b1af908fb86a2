"""C kernels as operators of torch, `torch.ops.saccade.NAME`: one border, with every check at it.

An operator takes what its schema says and checks the rest (dtypes, sizes, ranges) before C sees a pointer. Its fake
says what shapes come out, its derivative names the operator that computes it, and `torch.vmap` maps it row by row. The
rest of saccade calls operators where `saccade.runtime.kernel_conditions` allows it, and torch's own operations
elsewhere, so that what is exported or traced depends on nothing of saccade's.

Where nobody looks on, a call goes straight to the checks and to C, past torch's dispatcher, whose price is too high for
what is called at each step of a search, or of a Neural Turing Machine.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from saccade.runtime.kernel_conditions import is_batched, is_eager

_NAMESPACE = "saccade"


def define(
    schema: str,
    compute: Callable[..., Any],
    *,
    fake: Callable[..., Any],
    setup: Callable[..., None] | None = None,
    backward: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Make the operator of a schema, `name(Tensor x, ...) -> Tensor`, and give a function that calls it.

    compute   what it does on a CPU
    fake      the same without numbers: empty tensors of the right shapes
    setup     what is kept of a call for its derivative; with `backward`, as in `torch.library.register_autograd`
    """
    name, arguments = schema.split("(", 1)
    full = f"{_NAMESPACE}::{name}"
    torch.library.define(full, f"({arguments}")
    torch.library.impl(full, "cpu", compute)
    torch.library.register_fake(full, _of_one_device(name, fake))
    operator = getattr(getattr(torch.ops, _NAMESPACE), name).default
    if backward is not None:
        torch.library.register_autograd(full, backward, setup_context=setup)
    if "!" not in schema:  # what changes its arguments would change a part of a mapped one
        torch.library.register_vmap(full, _row_by_row(operator))
    recorded = compute if setup is None or backward is None else _function_of(name, compute, setup, backward).apply

    def dispatch(*arguments: Any, **named: Any) -> Any:
        if named or not is_eager() or torch._C._len_torch_dispatch_stack():  # noqa: SLF001 - torch has no other name for it
            return operator(*arguments, **named)
        return recorded(*arguments) if torch.is_grad_enabled() else compute(*arguments)

    return dispatch


def _function_of(
    name: str, compute: Callable[..., Any], setup: Callable[..., None], backward: Callable[..., Any]
) -> type[Function]:
    """What autograd records of a call that goes past the dispatcher."""

    def forward(ctx: Any, *arguments: Any) -> Any:
        output = compute(*arguments)
        setup(ctx, arguments, output)
        return output

    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def _of_one_device(name: str, fake: Callable[..., Any]) -> Callable[..., Any]:
    """A fake that refuses numbers: torch asks it for what it gives, none, if one tensor of many is on `meta`."""

    def checked(*arguments: Any) -> Any:
        devices = sorted({str(one.device) for one in arguments if isinstance(one, Tensor)})
        expect(len(devices) == 1, f"{name}: found tensors on {' and '.join(devices)}, wanted all of them on one device")
        return fake(*arguments)

    return checked


def _row_by_row(operator: Callable[..., Any]) -> Callable[..., Any]:
    """A rule for `torch.vmap` that is right for any operator that changes none of its arguments."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> tuple[Any, Any]:
        pairs = list(zip(arguments, in_dims, strict=True))
        if not info.batch_size:  # the shapes of a row are known all the same
            pairs = [(one if dim is None else one.new_zeros(_without(one.shape, dim)), None) for one, dim in pairs]
        rows = [
            operator(*(one if dim is None else one.select(dim, row) for one, dim in pairs))
            for row in range(max(1, info.batch_size))
        ]
        if isinstance(rows[0], Tensor):
            return torch.stack(rows)[: info.batch_size], 0
        return tuple(torch.stack(parts)[: info.batch_size] for parts in zip(*rows, strict=True)), (0,) * len(rows[0])

    return rule


def _without(shape: Sequence[int], dim: int) -> list[int]:
    return [size for axis, size in enumerate(shape) if axis != dim % len(shape)]


def expect(right: bool, message: str) -> None:  # noqa: FBT001 - it reads like an assertion
    """Raise unless an argument is right."""
    if not right:
        raise ValueError(message)


def expect_numbers(first: str, tensor: Tensor, **others: Tensor | None) -> None:
    """Raise unless a tensor has floating point numbers, and the others have numbers of its kind, where it has them."""
    if not tensor.is_floating_point():
        raise ValueError(f"{first}: found dtype {tensor.dtype}, wanted floating point numbers")
    for name, other in others.items():
        if other is not None and (other.dtype != tensor.dtype or other.device != tensor.device):
            raise ValueError(
                f"{name}: found {other.dtype} on {other.device}, wanted {tensor.dtype} on {tensor.device},"
                f" as {first} is"
            )


def first_order_only(name: str, gradients: Sequence[Tensor | None], *given: Tensor | None) -> tuple[Tensor | None, ...]:
    """Gradients that were computed of tensors `given`, with a derivative of their own that is refused by name.

    A gradient is differentiable only if whoever asked for it said `create_graph=True`; otherwise this does nothing.
    """
    if not torch.is_grad_enabled():
        return tuple(gradients)
    # that depends on more than was given, such as what was rounded; so it always asks for a derivative
    anchor = torch.zeros((), requires_grad=True, device="cpu")
    return tuple(None if one is None else _FirstOrderOnly.apply(name, one, anchor, *given) for one in gradients)


def expect_one_gradient(name: str, *gradients: Tensor | None) -> None:
    """Raise unless a derivative is asked for one gradient, not for several at once."""
    if any(one is not None and is_batched(one) for one in gradients):
        raise RuntimeError(
            f"{name} takes one gradient at a time here (not is_grads_batched, nor vectorize=True); compute and"
            " differentiate within saccade.runtime.torch_only(), where torch's own operations take several"
        )


def refuse_second_order(name: str, tensor: Tensor) -> Tensor:
    """A tensor for an operation of torch's own that has no second derivative: as it is, refused by name like the rest.

    A hook, and no function of ours, as those cost ten times as much.
    """
    if not (torch.is_grad_enabled() and tensor.requires_grad and is_eager()):
        return tensor
    tensor = tensor.view_as(tensor)  # what the user holds keeps no hook of ours
    tensor.register_hook(lambda gradient: first_order_only(name, (gradient,), gradient)[0])
    return tensor


class _FirstOrderOnly(Function):
    @staticmethod
    def forward(ctx: Any, name: str, gradient: Tensor, *given: Tensor | None) -> Tensor:
        ctx.name = name
        return gradient.view_as(gradient)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(
            f"{ctx.name} has no second derivative here; compute and differentiate within"
            " saccade.runtime.torch_only(), where torch's own operations have it"
        )
