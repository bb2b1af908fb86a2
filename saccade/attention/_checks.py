"""Checks of arguments. Each message names the argument, what was found and what was wanted."""

import torch
from torch import Tensor


def expect_last_dim(name: str, tensor: Tensor, dim: int, *, remedy: str = "") -> None:
    """Raise unless `tensor` is `[..., items, dim]`."""
    if tensor.dim() < 2 or tensor.shape[-1] != dim:
        hint = f"; {remedy}" if remedy else ""
        raise ValueError(f"{name}: found shape {list(tensor.shape)}, wanted [..., items, {dim}]{hint}")


def expect_sequences(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raise unless the three share their leading dimensions, and key and value their length."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() < 2:
            raise ValueError(f"{name}: found shape {list(tensor.shape)}, wanted [batch, items, dim]")
    for name, tensor in (("key", key), ("value", value)):
        if tensor.shape[:-2] != query.shape[:-2]:
            batch = ", ".join(str(size) for size in query.shape[:-2])
            raise ValueError(
                f"{name}: found shape {list(tensor.shape)}, wanted [{batch}, items, dim]"
                f" to go with the query of shape {list(query.shape)}"
            )
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"value: found {value.shape[-2]} items in shape {list(value.shape)},"
            f" wanted {key.shape[-2]}, one for each key"
        )


def expect_one_size(query: Tensor, key: Tensor) -> None:
    """Raise unless query and key can be multiplied."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"key: found size {key.shape[-1]} in shape {list(key.shape)}, wanted {query.shape[-1]}, a query's size;"
            " General and Additive compare vectors of different sizes"
        )


def expect_mask(mask: Tensor, shape: torch.Size, *, name: str = "mask") -> None:
    """Raise unless `mask` is boolean and broadcasts to `shape`, the shape of the scores."""
    if mask.dtype != torch.bool:
        raise ValueError(
            f"{name}: found dtype {mask.dtype}, wanted torch.bool with True where a query may look;"
            " for a mask of zeros and ones write mask.bool()"
        )
    fits = mask.dim() <= len(shape) and all(
        found in (1, wanted) for found, wanted in zip(reversed(mask.shape), reversed(shape), strict=False)
    )
    if not fits:
        hint = ""
        if mask.dim() == 2 and list(mask.shape) == [shape[0], shape[-1]]:
            hint = "; a mask of keys [batch, keys] goes in as mask[:, None, :], as padding_mask gives it"
        raise ValueError(f"{name}: found shape {list(mask.shape)}, wanted one that broadcasts to {list(shape)}{hint}")


def expect_positive(name: str, number: float) -> None:
    """Raise unless `number` is at least 1."""
    if not number >= 1:
        raise ValueError(f"{name}: found {number}, wanted at least 1")


def expect_fraction(name: str, number: float) -> None:
    """Raise unless `0 <= number < 1`."""
    if not 0 <= number < 1:
        raise ValueError(f"{name}: found {number}, wanted 0 <= {name} < 1")


def expect_choice(name: str, found: str, wanted: tuple[str, ...]) -> None:
    """Raise unless `found` is one of `wanted`."""
    if found not in wanted:
        raise ValueError(f"{name}: found {found!r}, wanted one of {', '.join(map(repr, wanted))}")
