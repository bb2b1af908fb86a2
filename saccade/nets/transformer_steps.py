"""The Transformer decoder one token at a time, in as few operations as that takes.

It computes what the layers of `saccade.nets.transformer` compute, for scores that are plain dot products, while no
gradient is wanted; the tests hold the two together. What makes it fast:

- Weights that read the same input are one matrix: the three projections of self-attention, and those of the source's
  keys and values for all layers.
- The cache is allocated ahead, for all layers in one tensor, and written in place.
- Sequences that belong to one sentence, the beams of a search, ask its source together as so many queries. Nothing of
  the source is ever copied for them.
- They share one cache of all that any of them wrote, and a mask says which of it is whose. To reorder beams is to
  reorder that mask; keys and values stay where they are.
- A few sequences go through all layers in one call of a C loop, where calling operations would take most of the time.

Letters: `N` sentences, `K` sequences of each, `S` source items, `C` positions of the cache, `D` dim, `L` layers,
`H` heads, `d` the size of a head.
"""

import ctypes
from collections.abc import Iterable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import Dot, MultiHead, ScaledDot, Soft
from saccade.nets._kernels.layers import addresses_of, expect_matrix, expect_states
from saccade.nets.decoder import Encoded
from saccade.nets.dropout import Dropout
from saccade.runtime.eager import is_bare, is_eager, is_plain
from saccade.runtime.native import KERNELS, call, library_for
from saccade.runtime.precision import linear, quantizes

_INITIAL_CAPACITY = 16  # of a sequence, in the cache
SOURCE = KERNELS / "transformer_step.c"

# What the parts of a layer may be, for their weights to tell all that they do.
_PARTS = (MultiHead, nn.Linear, nn.LayerNorm, Dropout, nn.ReLU, nn.GELU, Dot, ScaledDot, Soft)

# Up to so many rows go through all layers in one call. With more, torch's matrix products make up for the many calls.
MAX_FUSED_ROWS = 64


class LinearWeights(NamedTuple):
    """A linear map."""

    weight: Tensor  # [out, in]
    bias: Tensor  # [out]

    def __call__(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class LayerNormWeights(NamedTuple):
    """A layer norm."""

    weight: Tensor
    bias: Tensor
    size: tuple[int, ...]
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.size, self.weight, self.bias, self.eps)


def fast_layer_norm(norm: nn.Module, x: Tensor) -> Tensor:
    """What a last norm gives for the rows `[R, D]` of a step.

    torch's layer norm wakes other threads for each few rows, which at a step's size takes longer than all of it.
    """
    if len(x) > MAX_FUSED_ROWS or torch.is_grad_enabled() or not is_bare(norm, nn.LayerNorm):
        return norm(x)
    assert isinstance(norm, nn.LayerNorm)
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return torch.addcmul(norm.bias, (x - mean) * torch.rsqrt(variance + norm.eps), norm.weight)


class LayerWeights(NamedTuple):
    """What one decoder layer knows, in the order in which it is used."""

    self_norm: LayerNormWeights
    qkv: LinearWeights  # query, key and value of self-attention, one under the other
    self_output: LinearWeights
    cross_norm: LayerNormWeights
    cross_query: LinearWeights
    cross_output: LinearWeights
    feed_forward_norm: LayerNormWeights
    inner: LinearWeights
    activation: nn.Module
    outer: LinearWeights


def stack(*linears: nn.Linear) -> LinearWeights:
    """Linear maps of one input as one map: their outputs side by side."""
    if len(linears) == 1:
        return LinearWeights(linears[0].weight.contiguous(), linears[0].bias.contiguous())
    return LinearWeights(torch.cat([one.weight for one in linears]), torch.cat([one.bias for one in linears]))


def norm_of(layer: nn.LayerNorm) -> LayerNormWeights:
    return LayerNormWeights(layer.weight.contiguous(), layer.bias.contiguous(), layer.normalized_shape, layer.eps)


def scale_for_steps(layers: Iterable[nn.Module], *frames: type[nn.Module], heads: int) -> float | None:
    """What all dot products of these layers are multiplied by, if they do nothing but what these steps compute.

    frames    the classes of the layers and of what holds their parts together

    None if one of them has another score, weighting or number of heads, or no bias; if its call does more than its
    weights say (hooks, parametrizations, adapters); if weights are of several dtypes or elsewhere; or if this is no
    time for it.
    """
    if torch.is_grad_enabled() or not is_eager():
        return None
    parts = [part for layer in layers for part in layer.modules()]
    attentions = [part for part in parts if isinstance(part, MultiHead)]
    if not all(is_bare(part, *_PARTS, *frames) for part in parts) or not all(map(_can_step, attentions)):
        return None
    if any(attention.heads != heads for attention in attentions):
        return None
    weights = [weight for part in parts for weight in part._parameters.values() if weight is not None]  # noqa: SLF001 - faster
    if len({weight.dtype for weight in weights}) != 1 or not all(map(is_plain, weights)):
        return None
    scales = {_scale(attention) for attention in attentions}
    return scales.pop() if len(scales) == 1 else None


def _scale(attention: MultiHead) -> float:
    size = attention.query_projection.out_features // attention.heads
    return size**-0.5 if isinstance(attention.score, ScaledDot) else 1.0


def _can_step(attention: MultiHead) -> bool:
    return (
        isinstance(attention.score, (Dot, ScaledDot))
        and isinstance(attention.weighting, Soft)
        and attention.rotary is None
        and attention.query_projection.bias is not None
    )


def any_quantized(layers: Iterable[Iterable[object]]) -> bool:
    """Whether products of these layers are computed in int8 now; the fused loops compute in float32 alone."""
    return any(quantizes(part.weight) for layer in layers for part in layer if isinstance(part, LinearWeights))


class StackWeights(NamedTuple):
    """What all layers know, and how they are put together."""

    layers: tuple[LayerWeights, ...]
    pre_norm: bool
    scale: float  # of the dot products
    addresses: Tensor | None  # [L, 18], where the tensors of the layers lie, for the native loop if there is one
    eps: Tensor  # [L, 3], of their norms
    fused: bool  # whether a few rows may go through all layers in one call


class StepState(NamedTuple):
    """What the next step wants to know. A step writes into its tensors, so each state serves one step."""

    weights: StackWeights
    source: Tensor  # [L, 2, N, H, S, d], keys and values
    source_mask: Tensor | None  # [N, 1, 1, S], 0 or minus infinity; None if nothing is padding
    cache: Tensor  # [L, 2, N, H, C, d], keys and values of all that was written
    self_mask: Tensor | None  # [N, 1, K, C], 0 for what this sequence wrote, else minus infinity; None if K is 1
    diagonal_mask: Tensor | None  # [K, K], 0 where a sequence meets itself, else minus infinity; None if K is 1
    copies: int  # K
    length: int  # of the target so far

    def reorder(self, rows: Tensor) -> "StepState":
        """The state of the sequences `rows` `[n * K]`, those of a sentence side by side."""
        sentences = self._sentences_of(rows)  # [n], those that stay
        self_mask = self.self_mask
        if self_mask is not None:
            self_mask = self_mask.flatten(0, 2).index_select(0, rows).view(-1, 1, self.copies, self_mask.shape[-1])
        if sentences == list(range(self.cache.shape[2])):
            return self._replace(self_mask=self_mask)
        kept = torch.tensor(sentences, device=rows.device)
        return self._replace(
            source=self.source.index_select(2, kept),
            source_mask=None if self.source_mask is None else self.source_mask.index_select(0, kept),
            cache=self.cache.index_select(2, kept),
            self_mask=self_mask,
        )

    def _sentences_of(self, rows: Tensor) -> list[int]:
        """The sentence of each group of `rows`."""
        numbers, copies, last = rows.tolist(), self.copies, self.cache.shape[2] * self.copies - 1
        if rows.dim() == 1 and rows.dtype in (torch.int64, torch.int32):
            sentences = [number // copies for number in numbers]
            together = sentences[::copies]
            if sentences == [one for one in together for _ in range(copies)] and all(
                0 <= number <= last for number in numbers
            ):
                return together
        raise ValueError(
            f"rows: found {numbers}, wanted whole numbers from 0 to {last}, {copies} of one sentence side by side"
        )


def gather(layers: tuple[LayerWeights, ...], *, pre_norm: bool, scale: float) -> StackWeights:
    """The weights of a stack. They must not change, nor move, while they are used."""
    addresses = addresses_of(layers)
    if len({type(layer.activation) for layer in layers}) > 1 or NativeLoops.for_tensor(layers[0].qkv.weight) is None:
        addresses = None
    eps = [[part.eps for part in layer if isinstance(part, LayerNormWeights)] for layer in layers]
    fused = addresses is not None and isinstance(layers[0].activation, nn.ReLU) and not any_quantized(layers)
    return StackWeights(layers, pre_norm, scale, addresses, torch.tensor(eps, dtype=torch.float64, device="cpu"), fused)


def start_steps(weights: StackWeights, cross: LinearWeights, encoded: Encoded, *, heads: int, copies: int) -> StepState:
    """Project the source once, by the matrix `cross` that makes keys and values for all layers, `[2 L D, D]`."""
    qkv = weights.layers[0].qkv.weight
    layers, dim = len(weights.layers), qkv.shape[1]
    expect_states(encoded, qkv.dtype)
    sentences, items, size = encoded.states.shape
    expect_matrix("cross", cross, (2 * layers * dim, size), qkv.dtype)
    if heads < 1 or dim % heads:
        raise ValueError(f"heads: found {heads}, wanted a number that {dim} can be divided by")
    if copies < 1:
        raise ValueError(f"copies: found {copies}, wanted at least 1")
    projected = cross(encoded.states).view(sentences, items, layers, 2, heads, dim // heads)
    source_mask = None
    if not bool(encoded.mask.all()):
        nothing = encoded.states.new_zeros(encoded.mask.shape)
        source_mask = nothing.masked_fill_(~encoded.mask, -torch.inf)[:, None]
    capacity = _INITIAL_CAPACITY * copies
    self_mask = diagonal_mask = None
    if copies > 1:
        self_mask = encoded.states.new_full((sentences, 1, copies, capacity), -torch.inf)
        diagonal_mask = encoded.states.new_full((copies, copies), -torch.inf).fill_diagonal_(0)
    return StepState(
        weights,
        projected.permute(2, 3, 0, 4, 1, 5).contiguous(),
        source_mask,
        encoded.states.new_empty(layers, 2, sentences, heads, capacity, dim // heads),
        self_mask,
        diagonal_mask,
        copies,
        0,
    )


def step_through(x: Tensor, state: StepState, *, need_weights: bool) -> tuple[Tensor, StepState, Tensor | None]:
    """Read one token of each sequence, `[N * K, D]`.

    Gives features `[N * K, D]`, the state after it, and the weights `[N * K, L, H, S]` if they are wanted.
    """
    _expect_rows(x, state)
    state = _with_room(state)
    if (
        state.self_mask is not None and state.diagonal_mask is not None
    ):  # what is written now can be seen by whoever writes it
        here = slice(state.length * state.copies, (state.length + 1) * state.copies)
        state.self_mask[..., here] = state.diagonal_mask
    native = None if need_weights or state.weights.addresses is None else NativeLoops.for_tensor(x)
    loops = TorchLoops(keeps_weights=need_weights) if native is None else native
    if native is not None and state.weights.fused and len(x) <= MAX_FUSED_ROWS:
        x = native.through_layers(x, state)
    else:
        for number in range(len(state.weights.layers)):
            x = _through_layer(x, number, state, loops)
    weights = torch.stack(loops.weights, dim=1) if loops.weights else None
    return x, state._replace(length=state.length + 1), weights


def _expect_rows(x: Tensor, state: StepState) -> None:
    _, _, sentences, heads, _, size = state.cache.shape
    wanted = sentences * state.copies, heads * size
    if x.shape != wanted or x.dtype != state.cache.dtype:
        raise ValueError(f"x: found shape {list(x.shape)} of {x.dtype}, wanted {list(wanted)} of {state.cache.dtype}")


def _through_layer(x: Tensor, number: int, state: StepState, loops: "TorchLoops | NativeLoops") -> Tensor:
    """Rows `[N * K, D]` through one layer."""
    layer, pre_norm = state.weights.layers[number], state.weights.pre_norm
    projected = layer.qkv(layer.self_norm(x) if pre_norm else x)
    x = x + layer.self_output(loops.self_attention(projected, number, state))
    x = x if pre_norm else layer.self_norm(x)

    query = layer.cross_query(layer.cross_norm(x) if pre_norm else x)
    x = x + layer.cross_output(loops.cross_attention(query, number, state))
    x = x if pre_norm else layer.cross_norm(x)

    x = x + layer.outer(layer.activation(layer.inner(layer.feed_forward_norm(x) if pre_norm else x)))
    return x if pre_norm else layer.feed_forward_norm(x)


class TorchLoops:
    """The attention of a step in torch's operations."""

    def __init__(self, *, keeps_weights: bool) -> None:
        self.keeps_weights = keeps_weights
        self.weights: list[Tensor] = []  # [N * K, H, S] of each layer

    def self_attention(self, projected: Tensor, number: int, state: StepState) -> Tensor:
        """Self-attention of layer `number`: query, key and value `[N * K, 3 D]` -> the context `[N * K, D]`.

        The new keys and values are written into the cache.
        """
        _, _, sentences, heads, _, size = state.cache.shape
        first = state.length * state.copies
        last = first + state.copies
        parts = projected.view(sentences, state.copies, 3, heads, size).permute(2, 0, 3, 1, 4)  # [3, N, H, K, d]
        cache = state.cache[number]
        cache[:, :, :, first:last] = parts[1:]
        keys, values = cache[:, :, :, :last]  # [N, H, C, d] each
        mask = None if state.self_mask is None else state.self_mask[..., :last]
        context = F.scaled_dot_product_attention(parts[0], keys, values, attn_mask=mask, scale=state.weights.scale)
        return context.transpose(1, 2).reshape(len(projected), heads * size)

    def cross_attention(self, query: Tensor, number: int, state: StepState) -> Tensor:
        """Attention of layer `number` to the source: `[N * K, D]` -> the context `[N * K, D]`."""
        _, _, sentences, heads, _, size = state.source.shape
        keys, values = state.source[number]  # [N, H, S, d] each
        queries = query.view(sentences, state.copies, heads, size).transpose(1, 2)  # [N, H, K, d]
        mask, scale = state.source_mask, state.weights.scale
        if self.keeps_weights:
            scores = queries @ keys.transpose(-1, -2) * scale
            scores = scores if mask is None else scores + mask
            self.weights.append(scores.softmax(-1).transpose(1, 2).flatten(0, 1))
        context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=scale)
        return context.transpose(1, 2).reshape(query.shape)


class NativeLoops:
    """The same, and more, by the C loops of `transformer_step.c`, in float32. It gives no weights."""

    weights = ()

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    @classmethod
    def for_tensor(cls, x: Tensor) -> "NativeLoops | None":
        library = library_for(SOURCE, x) if x.dtype == torch.float32 else None
        return None if library is None else cls(library)

    def through_layers(self, x: Tensor, state: StepState) -> Tensor:
        """All layers in one call."""
        layers, _, sentences, heads, capacity, size = state.cache.shape
        items, dim, inner = state.source.shape[4], heads * size, len(state.weights.layers[0].inner.weight)
        x = x.clone(memory_format=torch.contiguous_format)
        workspace = x.new_empty(len(x) * (dim + max(inner, 3 * dim) + max(items, capacity)))
        call(
            self._library.transformer_step,
            (
                *(x, state.weights.addresses, state.weights.eps),
                *(state.source, state.source_mask, state.cache, state.self_mask, workspace),
            ),
            *(sentences, state.copies, items, capacity, (state.length + 1) * state.copies),
            *(dim, heads, inner, layers, int(state.weights.pre_norm), state.weights.scale),
        )
        return x

    def self_attention(self, projected: Tensor, number: int, state: StepState) -> Tensor:
        """As in `TorchLoops`."""
        _, _, _, heads, capacity, size = state.cache.shape
        rows, dim = len(projected), heads * size
        context, workspace = projected.new_empty(rows, dim), projected.new_empty(rows * capacity)
        keys, values = state.cache[number]
        call(
            self._library.self_attention,
            (projected, keys, values, state.self_mask, workspace, context),
            *(rows, state.copies, heads, dim, capacity, (state.length + 1) * state.copies, state.weights.scale),
        )
        return context

    def cross_attention(self, query: Tensor, number: int, state: StepState) -> Tensor:
        """As in `TorchLoops`."""
        _, _, _, heads, items, _ = state.source.shape
        context, workspace = torch.empty_like(query), query.new_empty(len(query) * items)
        keys, values = state.source[number]
        call(
            self._library.cross_attention,
            (query, keys, values, state.source_mask, workspace, context),
            *(len(query), state.copies, heads, query.shape[1], items, state.weights.scale),
        )
        return context


def _with_room(state: StepState) -> StepState:
    """The state with room in the cache for one more token: twice as much, when it is full."""
    capacity = state.cache.shape[4]
    if (state.length + 1) * state.copies <= capacity:
        return state
    cache = F.pad(state.cache, (0, 0, 0, capacity))
    self_mask = None if state.self_mask is None else F.pad(state.self_mask, (0, capacity), value=-torch.inf)
    return state._replace(cache=cache, self_mask=self_mask)
