"""Softmax attention of scores that are dot products, by one call of torch's fused kernel."""

import torch.nn.functional as F
from torch import Tensor

from saccade.attention._kernels import rounded
from saccade.runtime.operators import refuse_second_order


def fused_attention(query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None, causal: bool = False) -> Tensor:
    """`softmax(query · key) value`: `[B, T, D]`, `[B, S, D]`, `[B, S, V]` -> `[B, T, V]`.

    The scale is the caller's, inside `query`. `causal` aligns to the top left, as torch does.

    On a CPU the flash kernel is taken for 4-D inputs whose last dimension is dense and of one size; for others torch
    falls back without a word to a path that keeps the weights. So the inputs are brought into that shape here.
    A row that may look nowhere gives zeros, and zero gradients: so does torch's kernel, and a test holds it to that.
    It also gives zeros where scores are NaN, so a model that has diverged may show it elsewhere first.
    """
    *batch, queries, dim = query.shape
    keys, value_dim = value.shape[-2:]
    width = max(dim, value_dim)
    query, key, value = (_as_4d(part, width) for part in (query, key, value))
    if causal and mask is None and rounded.takes(query, key, value):
        context = rounded.rounded_causal_attention(query, key, value)
    else:
        context = F.scaled_dot_product_attention(
            refuse_second_order("fused attention", query),
            refuse_second_order("fused attention", key),
            refuse_second_order("fused attention", value),
            attn_mask=None if mask is None else _mask_as_4d(mask, batch, queries, keys),
            is_causal=causal,
            scale=1.0,
        )
    return context[..., :value_dim].reshape(*batch, queries, value_dim)


def _as_4d(tensor: Tensor, width: int) -> Tensor:
    """`[B, items, dim]` -> `[B, heads or 1, items, width]`, filled up with zeros, which no dot product sees."""
    if tensor.dim() == 3:
        tensor = tensor[:, None]
    elif tensor.dim() != 4:
        tensor = tensor.reshape(-1, 1, *tensor.shape[-2:])
    if tensor.shape[-1] < width:
        return F.pad(tensor, (0, width - tensor.shape[-1]))
    return tensor if tensor.stride(-1) == 1 else tensor.contiguous()


def _mask_as_4d(mask: Tensor, batch: list[int], queries: int, keys: int) -> Tensor:
    """Anything that broadcasts to `[B, T, S]` -> 4-D, broadcasting to the scores of `_as_4d`'s tensors."""
    if len(batch) not in (1, 2):
        return mask.expand(*batch, queries, keys).reshape(-1, 1, queries, keys)
    mask = mask.reshape((1,) * (len(batch) + 2 - mask.dim()) + mask.shape)
    mask = mask[:, None] if len(batch) == 1 else mask
    # the kernel takes a mask of one row for all queries, but not one column for all keys
    return mask.expand(*mask.shape[:-1], keys)
