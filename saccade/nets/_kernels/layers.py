"""What the native loops of a Transformer are handed: weights and states, looked at once, before there are pointers."""

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from saccade.nets.decoder import Encoded
from saccade.runtime.kernel_conditions import is_plain


def addresses_of(layers: Sequence[Any]) -> Tensor | None:
    """Where the weights and biases of all layers lie, `[L, ...]`; None if the loop cannot read them as they are.

    Each layer is a named tuple whose parts are named tuples, of a weight and a bias at least, or None: no address, 0.
    Raises `ValueError` if they do not fit together, which torch would say as well, but later and without a name.
    """
    if not layers:
        raise ValueError("layers: found none, wanted at least one")
    dtype, dim = layers[0].self_norm.weight.dtype, layers[0].self_norm.weight.numel()
    addresses: list[list[int]] = []
    readable = dtype == torch.float32
    for number, layer in enumerate(layers):
        inner = layer.inner.weight.shape[:1].numel()
        names = tuple(name for name, part in zip(layer._fields, layer, strict=True) if isinstance(part, tuple))
        shapes = _shapes_of(names, dim, inner)
        parts = [part for part in layer if isinstance(part, tuple)]  # the activation has no weights
        tensors = [one for part in parts for one in part[:2]]
        # all at once, as this is done for each sentence; one by one only to say what is wrong
        if [one.shape for one in tensors] != shapes or {one.dtype for one in tensors} != {dtype}:
            for name, part, wanted in zip(names, parts, shapes[::2], strict=True):
                expect_matrix(f"layers[{number}].{name}", part, wanted, dtype)
        readable = readable and inner == len(layers[0].inner.weight) and all(map(_is_readable, tensors))
        if readable:
            found = iter(one.data_ptr() for one in tensors)
            addresses.append([0 if part is None else next(found) for part in layer for _ in _pointers_of(part)])
    return torch.tensor(addresses, device="cpu") if readable else None


def _pointers_of(part: object) -> range:
    """Those of a weight and of a bias, which a part that is not there has room for as well; an activation has none."""
    return range(2 if part is None or isinstance(part, tuple) else 0)


def _is_readable(tensor: Tensor) -> bool:
    return tensor.is_contiguous() and is_plain(tensor)


@functools.cache
def _shapes_of(names: tuple[str, ...], dim: int, inner: int) -> list[tuple[int, ...]]:
    """Of the weights and biases of a layer."""
    matrices = {"qkv": (3 * dim, dim), "inner": (inner, dim), "outer": (dim, inner)}
    weights = [(dim,) if name.endswith("norm") else matrices.get(name, (dim, dim)) for name in names]
    return [shape for weight in weights for shape in (weight, weight[:1])]


def expect_matrix(name: str, part: tuple[Any, ...], wanted: tuple[int, ...], dtype: torch.dtype) -> None:
    """Raise unless a part has a weight of this shape, and a bias for each output, of this dtype."""
    weight, bias = part[:2]
    if weight.shape != wanted or bias.shape != wanted[:1] or weight.dtype != dtype or bias.dtype != dtype:
        raise ValueError(
            f"{name}: found {weight.dtype} of shape {list(weight.shape)} and {bias.dtype} of shape {list(bias.shape)},"
            f" wanted {dtype} of shapes {list(wanted)} and {list(wanted[:1])}"
        )


def expect_states(encoded: Encoded, dtype: torch.dtype) -> None:
    """Raise unless there are states `[N, S, D]` of this dtype, and a mask `[N, 1, S]` that says which are real."""
    states, mask = encoded.states, encoded.mask
    if states.dim() != 3 or states.dtype != dtype:
        raise ValueError(
            f"states: found shape {list(states.shape)} of {states.dtype}, wanted [sentences, items, dim] of {dtype}"
        )
    wanted = states.shape[0], 1, states.shape[1]
    if mask.shape != wanted or mask.dtype != torch.bool:
        raise ValueError(f"mask: found shape {list(mask.shape)} of {mask.dtype}, wanted {list(wanted)} of torch.bool")
