"""The Transformer encoder for a few tokens, all layers in one call of a C loop.

For one short sentence, calling torch's operations takes several times as long as what they compute. The loop computes
what the layers of `saccade.nets.transformer` compute, for scores that are plain dot products, while no gradient is
wanted; the tests hold the two together.

Letters: `N` sentences, `S` tokens of each, `D` dim, `L` layers, `H` heads.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from saccade.nets.transformer_steps import SOURCE, Matrix, Norm
from saccade.runtime.native import call, library_for

# Up to so many tokens, padding among them. With more, torch's matrix products make up for the many calls.
FEW_TOKENS = 48


class EncoderWeights(NamedTuple):
    """What one encoder layer knows, in the order in which it is used."""

    own_norm: Norm
    own: Matrix  # query, key and value, one under the other
    own_output: Matrix
    last_norm: Norm
    inner: Matrix
    outer: Matrix


class EncoderStack(NamedTuple):
    """What all layers know, and how they are put together."""

    layers: tuple[EncoderWeights, ...]
    pre_norm: bool
    heads: int
    scale: float  # of the dot products
    addresses: Tensor  # [L, 12], where the tensors of the layers lie
    eps: Tensor  # [L, 2], of their norms


def gather_encoder(layers: tuple[EncoderWeights, ...], *, pre_norm: bool, heads: int, scale: float) -> EncoderStack:
    """The weights of a stack. They must not change, nor move, while they are used."""
    places = [[tensor.data_ptr() for part in layer for tensor in part[:2]] for layer in layers]
    eps = torch.tensor([[layer.own_norm.eps, layer.last_norm.eps] for layer in layers], dtype=torch.float64)
    return EncoderStack(layers, pre_norm, heads, scale, torch.tensor(places), eps)


def encode_few(x: Tensor, mask: Tensor, stack: EncoderStack) -> Tensor | None:
    """`[N, S, D]` through all layers, where `mask` `[N, 1, S]` says which tokens are real.

    None where there is no loop for it, or where there are so many tokens that torch's operations are faster.
    """
    sentences, items, dim = x.shape
    library = library_for(SOURCE, x) if x.dtype == torch.float32 and sentences * items <= FEW_TOKENS else None
    if library is None:
        return None
    if stack.layers[0].own.weight.dtype != x.dtype:
        return None
    inner = len(stack.layers[0].inner.weight)
    x = x.clone(memory_format=torch.contiguous_format)
    room = x.new_empty(sentences * items * (3 * dim + max(inner, 3 * dim) + items))
    hidden = None if bool(mask.all()) else x.new_zeros(mask.shape).masked_fill_(~mask, -torch.inf)
    call(
        library.transformer_encode,
        (x, stack.addresses, stack.eps, hidden, room),
        *(sentences, items, dim, stack.heads, inner, len(stack.layers), int(stack.pre_norm), stack.scale),
    )
    return x
