"""The Transformer decoder one token at a time, in as few operations as that takes.

It computes what the layers of `saccade.nets.transformer` compute, for scores that are plain dot products, while no
gradient is wanted; the tests hold the two together. What makes it fast:

- Weights that read the same input are one matrix: the three projections of self-attention, and those of the source's
  keys and values for all layers.
- The cache is allocated ahead, for all layers in one tensor, and written in place.
- Sequences that belong to one sentence, the beams of a search, ask its source together as so many queries. Nothing of
  the source is ever copied for them.
- A few sequences go through all layers in one call of a C loop, where calling operations would take most of the time.
- They share one cache of all that any of them wrote, and a mask says which of it is whose. To reorder beams is to
  reorder that mask; keys and values stay where they are.

Letters: `N` sentences, `K` sequences of each, `S` source items, `C` places of the cache, `D` dim, `L` layers,
`H` heads, `d` the size of a head.
"""

import ctypes
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import Dot, MultiHead, ScaledDot, Soft
from saccade.native import call
from saccade.nets._kernels.transformer_step import native_step
from saccade.nets.decoder import Encoded

_FIRST_PLACES = 16


class Matrix(NamedTuple):
    """A linear map."""

    weight: Tensor  # [out, in]
    bias: Tensor  # [out]

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


class Norm(NamedTuple):
    """A layer norm."""

    weight: Tensor
    bias: Tensor
    size: tuple[int, ...]
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.size, self.weight, self.bias, self.eps)


class LayerWeights(NamedTuple):
    """What one decoder layer knows, in the order in which it is used."""

    own_norm: Norm
    own: Matrix  # query, key and value of self-attention, one under the other
    own_output: Matrix
    source_norm: Norm
    source_query: Matrix
    source_output: Matrix
    last_norm: Norm
    inner: Matrix
    bend: nn.Module
    outer: Matrix


def stack(*linears: nn.Linear) -> Matrix:
    """Linear maps of one input as one map: their outputs side by side."""
    if len(linears) == 1:
        return Matrix(linears[0].weight, linears[0].bias)
    return Matrix(torch.cat([one.weight for one in linears]), torch.cat([one.bias for one in linears]))


def norm_of(layer: nn.LayerNorm) -> Norm:
    return Norm(layer.weight, layer.bias, layer.normalized_shape, layer.eps)


def can_step(attention: MultiHead) -> bool:
    """Whether this is attention that these steps compute."""
    plain = isinstance(attention.score, (Dot, ScaledDot)) and isinstance(attention.weighting, Soft)
    return plain and attention.rotary is None and attention.query_projection.bias is not None


class StackWeights(NamedTuple):
    """What all layers know, and how they are put together."""

    layers: tuple[LayerWeights, ...]
    pre_norm: bool
    scale: float  # of the dot products
    addresses: Tensor  # [L, 18], where the tensors of the layers lie, for the native loop


class StepState(NamedTuple):
    """What the next step wants to know. A step writes into its tensors, so each state serves one step."""

    weights: StackWeights
    source: Tensor  # [L, 2, N, H, S, d], keys and values
    source_mask: Tensor | None  # [N, 1, 1, S], 0 or minus infinity; None if nothing is padding
    cache: Tensor  # [L, 2, N, H, C, d], keys and values of all that was written
    own_mask: Tensor | None  # [N, 1, K, C], 0 for what this sequence wrote, else minus infinity; None if K is 1
    copies: int  # K
    length: int  # of the target so far

    def reorder(self, rows: Tensor) -> "StepState":
        """The state of the sequences `rows` `[n * K]`, those of a sentence side by side."""
        kept = rows.view(-1, self.copies)[:, 0] // self.copies  # [n], the sentences that stay
        all_stay = kept.equal(torch.arange(self.cache.shape[2]))
        own_mask = self.own_mask
        if own_mask is not None:
            own_mask = own_mask.flatten(0, 2).index_select(0, rows).view(-1, 1, self.copies, own_mask.shape[-1])
        if all_stay:
            return self._replace(own_mask=own_mask)
        return self._replace(
            source=self.source.index_select(2, kept),
            source_mask=None if self.source_mask is None else self.source_mask.index_select(0, kept),
            cache=self.cache.index_select(2, kept),
            own_mask=own_mask,
        )


def gather(layers: tuple[LayerWeights, ...], *, pre_norm: bool, scale: float) -> StackWeights:
    """The weights of a stack. They must not change, nor move, while they are used."""
    addresses = [
        [tensor.data_ptr() for part in layer if isinstance(part, (Norm, Matrix)) for tensor in part[:2]]
        for layer in layers
    ]
    return StackWeights(layers, pre_norm, scale, torch.tensor(addresses))


def start_steps(weights: StackWeights, cross: Matrix, encoded: Encoded, *, heads: int, copies: int) -> StepState:
    """Project the source once, by the matrix `cross` that makes keys and values for all layers, `[2 L D, D]`."""
    sentences, items, dim = encoded.states.shape
    layers = len(weights.layers)
    projected = cross(encoded.states).view(sentences, items, layers, 2, heads, dim // heads)
    source_mask = None
    if not bool(encoded.mask.all()):
        source_mask = torch.zeros(encoded.mask.shape).masked_fill_(~encoded.mask, -torch.inf)[:, None]
    places = _FIRST_PLACES * copies
    return StepState(
        weights,
        projected.permute(2, 3, 0, 4, 1, 5).contiguous(),
        source_mask,
        encoded.states.new_empty(layers, 2, sentences, heads, places, dim // heads),
        encoded.states.new_full((sentences, 1, copies, places), -torch.inf) if copies > 1 else None,
        copies,
        0,
    )


def step_through(x: Tensor, state: StepState, *, need_weights: bool) -> tuple[Tensor, StepState, Tensor | None]:
    """Read one token of each sequence, `[N * K, D]`.

    Gives features `[N * K, D]`, the state after it, and the weights `[N * K, L, H, S]` if they are wanted.
    """
    state = _with_room(state)
    if state.own_mask is not None:  # what is written now can be seen by whoever writes it
        here = slice(state.length * state.copies, (state.length + 1) * state.copies)
        state.own_mask[..., here] = torch.full((state.copies, state.copies), -torch.inf).fill_diagonal_(0)
    library = native_step(x)
    if library is None or need_weights or not isinstance(state.weights.layers[0].bend, nn.ReLU):
        x, weights = _through_layers(x, state, need_weights=need_weights)
    else:
        x, weights = _through_native_layers(library, x, state), None
    return x, state._replace(length=state.length + 1), weights


def _through_native_layers(library: ctypes.CDLL, x: Tensor, state: StepState) -> Tensor:
    layers, _, sentences, heads, places, size = state.cache.shape
    items, dim, inner = state.source.shape[4], heads * size, len(state.weights.layers[0].inner.weight)
    x = x.clone()
    room = x.new_empty(len(x) * (dim + max(inner, 3 * dim)) + max(items, places))
    call(
        library.transformer_step,
        (x, state.weights.addresses, state.source, state.source_mask, state.cache, state.own_mask, room),
        *(sentences, state.copies, items, places, (state.length + 1) * state.copies),
        *(dim, heads, inner, layers, int(state.weights.pre_norm), state.weights.scale),
        state.weights.layers[0].own_norm.eps,
    )
    return x


def _through_layers(x: Tensor, state: StepState, *, need_weights: bool) -> tuple[Tensor, Tensor | None]:
    """The same in torch's operations."""
    _, _, sentences, heads, _, size = state.cache.shape
    copies, first = state.copies, state.length * state.copies
    last = first + copies
    own_mask = None if state.own_mask is None else state.own_mask[..., :last]
    pre_norm, scale = state.weights.pre_norm, state.weights.scale
    weights: list[Tensor] = []
    for layer, cache, (keys, values) in zip(state.weights.layers, state.cache, state.source, strict=True):
        y = layer.own(layer.own_norm(x) if pre_norm else x).view(sentences, copies, 3, heads, size)
        y = y.permute(2, 0, 3, 1, 4)  # [3, N, H, K, d]
        cache[:, :, :, first:last] = y[1:]
        own_keys, own_values = cache[:, :, :, :last]  # [N, H, C, d] each
        seen = F.scaled_dot_product_attention(y[0], own_keys, own_values, attn_mask=own_mask, scale=scale)
        x = x + layer.own_output(seen.transpose(1, 2).reshape(x.shape))
        x = x if pre_norm else layer.own_norm(x)

        query = layer.source_query(layer.source_norm(x) if pre_norm else x)
        query = query.view(sentences, copies, heads, size).transpose(1, 2)  # [N, H, K, d]
        if need_weights:
            scores = query @ keys.transpose(-1, -2) * scale
            scores = scores if state.source_mask is None else scores + state.source_mask
            weights.append(scores.softmax(-1).transpose(1, 2).flatten(0, 1))  # [N * K, H, S]
        seen = F.scaled_dot_product_attention(query, keys, values, attn_mask=state.source_mask, scale=scale)
        x = x + layer.source_output(seen.transpose(1, 2).reshape(x.shape))
        x = x if pre_norm else layer.source_norm(x)

        y = layer.last_norm(x) if pre_norm else x
        x = x + layer.outer(layer.bend(layer.inner(y)))
        x = x if pre_norm else layer.last_norm(x)
    return x, torch.stack(weights, dim=1) if weights else None


def _with_room(state: StepState) -> StepState:
    """The state with places for one more token: twice as many, when they are used up."""
    places = state.cache.shape[4]
    if (state.length + 1) * state.copies <= places:
        return state
    cache = F.pad(state.cache, (0, 0, 0, places))
    own_mask = None if state.own_mask is None else F.pad(state.own_mask, (0, places), value=-torch.inf)
    return state._replace(cache=cache, own_mask=own_mask)
