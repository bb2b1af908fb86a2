"""Masks: boolean, and **True means "may look"**, as in torch's `scaled_dot_product_attention`.

A mask broadcasts to the scores `[B, T, S]` (B batch, T queries, S keys), from the right as everywhere in torch. So two
dimensions are always `[T, S]`; a mask of keys `[B, S]` goes in as `mask[:, None, :]`, the shape that `padding_mask`
gives. Masks combine with `&`: `padding_mask(lengths) & causal_mask(T)`.
"""

from typing import Literal

import torch
from torch import Tensor

from saccade.attention._checks import expect_choice, expect_count, expect_tensor
from saccade.runtime.kernel_conditions import has_data, is_eager

Corner = Literal["top-left", "bottom-right"]


def padding_mask(lengths: Tensor, *, size: int | None = None) -> Tensor:
    """Which keys are real, for a batch of sequences that were padded at their end.

    `lengths` `[B]` -> `[B, 1, S]`, where `S` is `size` or the longest length:

        lengths 3, 1 ->  1 1 1
                         1 0 0
    """
    expect_tensor("lengths", lengths)
    if lengths.dim() != 1 or lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise ValueError(
            f"lengths: found shape {list(lengths.shape)} of {lengths.dtype}, wanted [batch] of whole numbers"
        )
    if size is None or (is_eager() and has_data(lengths)):  # what is traced has no numbers to look at yet
        shortest, longest = (int(lengths.min()), int(lengths.max())) if lengths.numel() else (0, 0)
        if shortest < 0:
            raise ValueError(f"lengths: found a length of {shortest}, wanted 0 or more")
        size = longest if size is None else size
        if longest > size:
            raise ValueError(f"lengths: found a length of {longest}, wanted at most size={size}")
    positions = torch.arange(size, device=lengths.device)
    return (positions < lengths[:, None])[:, None, :]  # [B, 1, S]


def causal_mask(
    queries: int, keys: int | None = None, *, corner: Corner = "bottom-right", device: torch.device | None = None
) -> Tensor:
    """No query looks at a later key. `[T, S]`, with `S = T` unless `keys` says otherwise.

    Where there are more keys than queries, `corner` says which end the two have in common:

        corner="bottom-right"       corner="top-left"
        the last query stands at    the first query stands at
        the last key (decoding      the first key (`is_causal`
        with a cache)               of torch's kernel)

              1 1 1 0                     1 0 0 0
              1 1 1 1                     1 1 0 0
    """
    keys = queries if keys is None else keys
    _expect_shape(queries, keys, corner)
    diagonal = keys - queries if corner == "bottom-right" else 0
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(diagonal)


def window_mask(
    queries: int,
    keys: int | None = None,
    *,
    window: int,
    corner: Corner = "top-left",
    device: torch.device | None = None,
) -> Tensor:
    """Query `t` looks at the keys `t - window ... t + window`. `[T, S]`, with `S = T` unless `keys` says otherwise.

    Where there are more keys than queries, `corner` says which end the two have in common, as in `causal_mask`;
    the first key, unless told otherwise:

        window=1   1 1 0 0
                   1 1 1 0
                   0 1 1 1
    """
    expect_count("window", window)
    keys = queries if keys is None else keys
    _expect_shape(queries, keys, corner)
    shift = keys - queries if corner == "bottom-right" else 0
    rows = torch.arange(queries, device=device)[:, None] + shift
    columns = torch.arange(keys, device=device)
    return (columns - rows).abs() <= window


def _expect_shape(queries: int, keys: int, corner: str) -> None:
    expect_count("queries", queries, least=0)
    expect_count("keys", keys, least=0)
    expect_choice("corner", corner, ("top-left", "bottom-right"))


def last_visible(mask: Tensor | None, keys: int, *, device: torch.device) -> Tensor:
    """The last key that each query may see; 0 where it may see none: `[B, T]`, or what broadcasts to it."""
    if mask is None or keys == 0:
        return torch.tensor(max(keys - 1, 0), device=device)
    return (mask * torch.arange(keys, device=device)).amax(-1)


def join_masks(*masks: Tensor | None) -> Tensor | None:
    """What every one of the masks allows; None stands for "everything"."""
    joint: Tensor | None = None
    for mask in masks:
        if mask is not None:
            joint = mask if joint is None else joint & mask
    return joint
