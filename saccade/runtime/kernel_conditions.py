"""Whether the C kernels may work: on plain tensors that are computed here and now, and on nothing else.

Whoever compiles, exports, traces, maps or differentiates in another way asks modules for operations that can be seen
through, and gets torch's own. The same holds for tensors that are not what they seem (fakes, wrappers, other devices
and layouts) and for modules whose call does more than their class says (hooks, parametrizations, pruning, adapters).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn.modules import module as module_internals

# whether a tensor comes from autograd's own mapping over gradients (`is_grads_batched`), which is older than torch.vmap
is_batched: Callable[[Tensor], bool] = torch._C._functorch.is_legacy_batchedtensor  # noqa: SLF001 # pyright: ignore[reportAttributeAccessIssue]
_functorch_level: Callable[[], int | None] = torch._C._functorch.maybe_current_level  # noqa: SLF001 # pyright: ignore[reportAttributeAccessIssue]
_torch_only: ContextVar[bool] = ContextVar("torch_only", default=False)


@contextmanager
def torch_only() -> Iterator[None]:
    """Compute by torch's own operations alone, which can be differentiated any number of times.

    For second derivatives, which the kernels do not have, and to compare: the results are the same to rounding, but for
    the random numbers of dropout. What is computed within must also be differentiated within.
    """
    token = _torch_only.set(True)
    try:
        yield
    finally:
        _torch_only.reset(token)


def is_eager() -> bool:
    """Whether an operation called now computes numbers, which nothing but autograd's backward pass will ask about."""
    # the first is all that torch.compile gets to see of this function
    return not (
        torch.compiler.is_compiling()
        or torch._C._is_tracing()  # noqa: SLF001 - torch.jit.is_tracing is this behind a slower door
        or _functorch_level() is not None  # vmap, grad, jvp
        or forward_ad._current_level >= 0  # noqa: SLF001 - dual numbers
        or torch.is_autocast_enabled("cpu")
        or _torch_only.get()
    )


def is_transformed() -> bool:
    """Whether somebody maps (`vmap`) or differentiates in another way than backward and once.

    torch's fused attention can be compiled and exported, but none of this.
    """
    return not torch.compiler.is_compiling() and (
        _functorch_level() is not None
        or forward_ad._current_level >= 0  # noqa: SLF001
        or _torch_only.get()
    )


def can_run_backward(tensor: Tensor) -> bool:
    """Whether C may compute the derivative of what it computed of this tensor, whatever is asked for by now."""
    return is_plain(tensor) and not torch.compiler.is_compiling() and _functorch_level() is None


def has_data(tensor: Tensor) -> bool:
    """Whether a tensor is one of numbers, on any device, and not a fake of it or another thing that stands for it."""
    return type(tensor) in _PLAIN and not tensor.is_meta


def is_plain(tensor: Tensor) -> bool:
    """Whether the numbers of a tensor are where `data_ptr` says, as they are."""
    # subclasses stand for numbers that are not there, or not yet; a set negative bit, for their opposites
    return (
        type(tensor) in _PLAIN
        and tensor.is_cpu
        and tensor.layout is torch.strided
        and not tensor.is_neg()
        and not is_batched(tensor)
    )


_PLAIN = frozenset({Tensor, nn.Parameter})


def is_bare(module: nn.Module, *kinds: type[nn.Module]) -> bool:
    """Whether calling a module is nothing but the `forward` of one of these classes, so that its weights tell it all.

    A parametrization or an adapter gives it another class; pruning, spectral norm and whoever looks in are hooks.
    """
    return type(module) in kinds and not (
        module._forward_hooks  # noqa: SLF001 - torch has no other name for them, here and below
        or module._forward_pre_hooks  # noqa: SLF001
        or module._backward_hooks  # noqa: SLF001
        or module._backward_pre_hooks  # noqa: SLF001
        or module_internals._global_forward_hooks  # noqa: SLF001
        or module_internals._global_forward_pre_hooks  # noqa: SLF001
        or module_internals._global_backward_hooks  # noqa: SLF001
        or module_internals._global_backward_pre_hooks  # noqa: SLF001
    )
