"""Checks of arguments. Each message names the argument, what was found and what was wanted."""

import torch
from torch import Tensor


def expect_instance(name: str, found: object, kind: type, *, example: str) -> None:
    """Raise unless `found` is a `kind`."""
    if not isinstance(found, kind):
        what = f"the class {found.__name__}" if isinstance(found, type) else repr(found)
        raise ValueError(f"{name}: found {what}, wanted a {kind.__name__} such as {example}")


def expect_tensor(name: str, found: object) -> None:
    """Raise unless `found` is a tensor."""
    if not isinstance(found, Tensor):
        raise ValueError(f"{name}: found a {type(found).__name__}, wanted a torch.Tensor")


def expect_items(name: str, tensor: Tensor, *, like: tuple[str, Tensor] | None = None) -> None:
    """Raise unless `tensor` is `[..., items, dim]` of floating point numbers, with the leading sizes of `like`."""
    expect_tensor(name, tensor)
    if tensor.dim() < 2:
        raise ValueError(f"{name}: found shape {list(tensor.shape)}, wanted [batch, items, dim]")
    if not tensor.is_floating_point():
        raise ValueError(f"{name}: found dtype {tensor.dtype}, wanted floating point numbers")
    if like is not None:
        other_name, other = like
        if tensor.shape[:-2] != other.shape[:-2]:
            wanted = ", ".join([*(str(size) for size in other.shape[:-2]), "items", "dim"])
            raise ValueError(
                f"{name}: found shape {list(tensor.shape)}, wanted [{wanted}]"
                f" to go with the {other_name} of shape {list(other.shape)}"
            )


def expect_pairs(key: Tensor, value: Tensor) -> None:
    """Raise unless there is one value for each key."""
    expect_items("key", key)
    expect_items("value", value, like=("key", key))
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"value: found {value.shape[-2]} items in shape {list(value.shape)},"
            f" wanted {key.shape[-2]}, one for each key"
        )


def expect_last_dim(name: str, tensor: Tensor, dim: int, *, remedy: str = "") -> None:
    """Raise unless `tensor` is `[..., items, dim]`."""
    expect_items(name, tensor)
    if tensor.shape[-1] != dim:
        hint = f"; {remedy}" if remedy else ""
        raise ValueError(f"{name}: found shape {list(tensor.shape)}, wanted [..., items, {dim}]{hint}")


def expect_one_size(query: Tensor, key: Tensor) -> None:
    """Raise unless query and key can be multiplied."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"key: found size {key.shape[-1]} in shape {list(key.shape)}, wanted {query.shape[-1]}, a query's size;"
            " General and Additive compare vectors of different sizes"
        )


def expect_same_kind(name: str, found: Tensor, *, like: tuple[str, Tensor]) -> None:
    """Raise unless `found` has the dtype and the device of `like`."""
    other_name, other = like
    if (found.dtype, found.device) != (other.dtype, other.device):
        raise ValueError(
            f"{name}: found {found.dtype} on {found.device},"
            f" wanted {other.dtype} on {other.device}, as the {other_name} is"
        )


def expect_mask(mask: Tensor, shape: torch.Size, *, name: str = "mask") -> None:
    """Raise unless `mask` is boolean and broadcasts to `shape`, the shape of the scores."""
    expect_tensor(name, mask)
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


def expect_at_least(name: str, number: float, least: float) -> None:
    """Raise unless `number` is at least `least`; NaN is not."""
    if not number >= least:
        raise ValueError(f"{name}: found {number}, wanted at least {least}")


def expect_count(name: str, number: int, *, least: int = 1) -> None:
    """Raise unless `number` is a whole number of at least `least`."""
    if isinstance(number, (torch.SymInt, Tensor)):  # of a shape that torch.export leaves open, or torch.jit.trace
        return
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError(f"{name}: found {number!r}, wanted a whole number of at least {least}")
    expect_at_least(name, number, least)


def expect_fraction(name: str, number: float) -> None:
    """Raise unless `0 <= number < 1`."""
    if not 0 <= number < 1:
        raise ValueError(f"{name}: found {number}, wanted 0 <= {name} < 1")


def expect_choice(name: str, found: str, wanted: tuple[str, ...]) -> None:
    """Raise unless `found` is one of `wanted`."""
    if found not in wanted:
        raise ValueError(f"{name}: found {found!r}, wanted one of {', '.join(map(repr, wanted))}")
