"""One step of the heads of a Neural Turing Machine and its derivative: `turing_step.c` as operators.

Letters: `B` batch, `N` locations of the memory, `M` numbers at each, `H` heads (the `R` that read first, then the `W`
that write), `K` offsets of a shift, `P` raw head parameters. `saccade.nets` has the formulas, in torch's
operations.
"""

import ctypes
from typing import Any

import torch
from torch import Tensor

from saccade.runtime.kernel_conditions import can_run_backward
from saccade.runtime.native import KERNELS, call, library_for, load_library
from saccade.runtime.operators import define, expect_numbers, expect_one_gradient, first_order_only

SOURCE = KERNELS / "turing_step.c"


def _forward(
    memory: Tensor, last: Tensor, raw_parameters: Tensor, read: int, write: int, shifts: int, limit: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    batch, locations, width = _expect_sizes(memory, last, raw_parameters, read, write, shifts, limit)
    memory, last, raw_parameters = memory.contiguous(), last.contiguous(), raw_parameters.contiguous()
    weights, reads, after, saved = _outputs(memory, last, raw_parameters, read, write, shifts, limit)
    call(
        _library("turing_step", memory, last=last, raw_parameters=raw_parameters).turing_forward,
        (memory, last, raw_parameters, weights, reads, after, saved),
        *(batch, locations, width, read, write, shifts),
    )
    return weights, reads, after, saved


def _backward_step(
    memory: Tensor,
    last: Tensor,
    raw_parameters: Tensor,
    weights: Tensor,
    saved: Tensor,
    grad_weights: Tensor | None,
    grad_reads: Tensor | None,
    grad_memory: Tensor | None,
    read: int,
    write: int,
    shifts: int,
    limit: float,
) -> tuple[Tensor, ...]:
    _expect_sizes(memory, last, raw_parameters, read, write, shifts, limit)
    made = {
        "weights": weights,
        "saved": saved,
        "grad_weights": grad_weights,
        "grad_reads": grad_reads,
        "grad_memory": grad_memory,
    }
    read_shape = (len(memory), read, memory.shape[2])
    shapes = (last.shape, (*last.shape[:2], 4, last.shape[2]), last.shape, read_shape, memory.shape)
    for (name, tensor), shape in zip(made.items(), shapes, strict=True):
        if tensor is not None and tensor.shape != shape:
            raise ValueError(f"{name}: found shape {list(tensor.shape)}, wanted {list(shape)}")
    _library("turing_backward", memory, last=last, raw_parameters=raw_parameters, **made)
    return _gradients(
        memory, last, raw_parameters, weights, saved, grad_weights, grad_reads, grad_memory, read, write, shifts, limit
    )


def _gradients(*arguments: Any) -> tuple[Tensor, ...]:
    """What `_backward_step` gives, of arguments that are known to fit."""
    memory, last, raw_parameters, *others, read, write, shifts, limit = arguments
    given = memory.contiguous(), last.contiguous(), raw_parameters.contiguous()
    results = torch.empty_like(given[0]), torch.empty_like(given[1]), torch.empty_like(given[2])
    rest = [None if one is None else one.contiguous() for one in others]
    library = load_library(SOURCE, "float" if memory.dtype == torch.float32 else "double").functions
    assert library is not None, "what is derived was computed by it"
    numbers = (*memory.shape, read, write, shifts, float(limit))
    call(library.turing_backward, (*given, *rest, *results), *numbers)
    return results


def _expect_sizes(
    memory: Tensor, last: Tensor, raw_parameters: Tensor, read: int, write: int, shifts: int, limit: float
) -> tuple[int, int, int]:
    # each message is made only if it is needed: this is called at every step
    if memory.dim() != 3:
        raise ValueError(f"memory: found shape {list(memory.shape)}, wanted [batch, locations, width]")
    batch, locations, width = memory.shape
    if min(locations, width) < 1:
        raise ValueError(f"memory: found shape {list(memory.shape)}, wanted at least 1 location of width 1")
    for name, number in (("read", read), ("write", write), ("shifts", shifts)):
        if number < 1:
            raise ValueError(f"{name}: found {number}{'' if name == 'shifts' else ' heads'}, wanted at least 1")
    heads = read + write
    if last.shape != (batch, heads, locations):
        raise ValueError(f"last: found shape {list(last.shape)}, wanted {[batch, heads, locations]}")
    numbers = heads * (width + 3 + shifts) + 2 * write * width
    if raw_parameters.shape != (batch, numbers):
        raise ValueError(f"raw_parameters: found shape {list(raw_parameters.shape)}, wanted {[batch, numbers]}")
    if not limit >= 0:
        raise ValueError(f"limit: found {limit}, wanted 0 or more")
    return batch, locations, width


def _library(name: str, memory: Tensor, **others: Tensor | None) -> ctypes.CDLL:
    library = library_for(SOURCE, memory, *others.values())
    if library is None:
        expect_numbers("memory", memory, **others)
        raise RuntimeError(
            f"{name}: found no C kernel for a memory of {memory.dtype}; wanted float32 or float64, a C compiler, and"
            " plain tensors computed here and now; saccade.nets computes the same by torch's operations"
        )
    return library


def _outputs(
    memory: Tensor, last: Tensor, raw_parameters: Tensor, read: int, write: int, shifts: int, limit: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    reads = memory.new_empty(memory.shape[0], read, memory.shape[2])
    saved = last.new_empty(*last.shape[:2], 4, last.shape[2])
    plain = torch.contiguous_format
    return torch.empty_like(last, memory_format=plain), reads, torch.empty_like(memory, memory_format=plain), saved


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    memory, last, raw_parameters, *ctx.sizes = inputs
    weights, _, _, saved = output
    ctx.save_for_backward(memory, last, raw_parameters, weights, saved)
    ctx.mark_non_differentiable(saved)
    ctx.set_materialize_grads(False)


def _backward(
    ctx: Any, grad_weights: Tensor | None, grad_reads: Tensor | None, grad_memory: Tensor | None, _: Any
) -> Any:
    saved, gradients = ctx.saved_tensors, (grad_weights, grad_reads, grad_memory)
    with torch.no_grad():
        expect_one_gradient("a step of the Neural Turing Machine", *gradients)
        # of a call that was recorded past the dispatcher, everything has been looked at
        backward = _gradients if can_run_backward(saved[0]) else turing_backward
        results = backward(*saved, *gradients, *ctx.sizes)
    return (
        *first_order_only("a step of the Neural Turing Machine", results, *saved[:3], *gradients),
        None,
        None,
        None,
        None,
    )


_TENSORS, _SIZES = "Tensor memory, Tensor last, Tensor raw_parameters", "int read, int write, int shifts, float limit"

turing_backward = define(
    f"turing_backward({_TENSORS}, Tensor weights, Tensor saved, Tensor? grad_weights, Tensor? grad_reads,"
    f" Tensor? grad_memory, {_SIZES}) -> (Tensor, Tensor, Tensor)",
    _backward_step,
    fake=lambda memory, last, raw_parameters, *_: tuple(
        torch.empty_like(one, memory_format=torch.contiguous_format) for one in (memory, last, raw_parameters)
    ),
)

# Memory [B, N, M], where the heads were [B, H, N], the raw head parameters [B, P] -> where they are [B, H, N], what is
# read [B, R, M], the memory after it, and what the derivative needs [B, H, 4, N]. From step to step, a sequence's
# gradient is cut to the norm `limit`, if that is above 0.
turing_step = define(
    f"turing_step({_TENSORS}, {_SIZES}) -> (Tensor, Tensor, Tensor, Tensor)",
    _forward,
    fake=_outputs,
    setup=_keep,
    backward=_backward,
)
