"""The Transformer encoder for short inputs, all layers fused in one call of a C loop.

For one short sentence, calling torch's operations takes several times as long as what they compute. The loop computes
what the layers of `saccade.nets.transformer` compute, for scores that are plain dot products, while no gradient is
wanted; the tests hold the two together.

Letters: `N` sentences, `S` tokens of each, `D` dim, `L` layers, `H` heads.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from saccade.nets._kernels.layers import addresses_of, expect_states
from saccade.nets.decoder import Encoded
from saccade.nets.transformer_weights import LayerNormWeights, LinearWeights, step_library
from saccade.runtime.native import call

# Up to so many tokens, padding among them. With more, torch's matrix products make up for the many calls.
MAX_FUSED_TOKENS = 48


class EncoderWeights(NamedTuple):
    """What one encoder layer knows, in the order in which it is used."""

    self_norm: LayerNormWeights
    qkv: LinearWeights  # query, key and value, one under the other
    self_output: LinearWeights
    feed_forward_norm: LayerNormWeights
    inner: LinearWeights
    outer: LinearWeights


class EncoderStack(NamedTuple):
    """What all layers know, and how they are put together."""

    layers: tuple[EncoderWeights, ...]
    pre_norm: bool
    heads: int
    scale: float  # of the dot products
    addresses: Tensor | None  # [L, 12], where the tensors of the layers lie, if the native loop can read them
    eps: Tensor  # [L, 2], of their norms


def gather_encoder(layers: tuple[EncoderWeights, ...], *, pre_norm: bool, heads: int, scale: float) -> EncoderStack:
    """The weights of a stack. They must not change, nor move, while they are used."""
    addresses = addresses_of(layers)
    dim = len(layers[0].self_norm.weight)
    if heads < 1 or dim % heads:
        raise ValueError(f"heads: found {heads}, wanted a number that {dim} can be divided by")
    eps = [[layer.self_norm.eps, layer.feed_forward_norm.eps] for layer in layers]
    return EncoderStack(layers, pre_norm, heads, scale, addresses, torch.tensor(eps, dtype=torch.float64, device="cpu"))


def fused_encode(x: Tensor, mask: Tensor, stack: EncoderStack) -> Tensor | None:
    """`[N, S, D]` through all layers, where `mask` `[N, 1, S]` says which tokens are real.

    None where there is no loop for it, or where there are so many tokens that torch's operations are faster.
    """
    expect_states(Encoded(x, mask), x.dtype)
    sentences, items, dim = x.shape
    library = step_library(x) if sentences * items <= MAX_FUSED_TOKENS else None
    if library is None:
        return None
    if stack.addresses is None:
        return None
    if len(stack.layers[0].self_norm.weight) != dim:
        raise ValueError(f"x: found shape {list(x.shape)}, wanted [..., {len(stack.layers[0].self_norm.weight)}]")
    inner = len(stack.layers[0].inner.weight)
    x = x.clone(memory_format=torch.contiguous_format)
    workspace = x.new_empty(sentences * items * (3 * dim + max(inner, 3 * dim) + items))
    hidden = None if bool(mask.all()) else x.new_zeros(mask.shape).masked_fill_(~mask, -torch.inf)
    call(
        library.transformer_encode,
        (x, stack.addresses, stack.eps, hidden, workspace),
        *(sentences, items, dim, stack.heads, inner, len(stack.layers), int(stack.pre_norm), stack.scale),
    )
    return x
