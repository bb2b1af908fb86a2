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
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.nets._kernels.layers import expect_matrix, expect_states
from saccade.nets.decoder import Encoded
from saccade.nets.transformer_weights import MAX_FUSED_ROWS, LinearWeights, StackWeights, step_library
from saccade.runtime.native import call

_INITIAL_CAPACITY = 16  # of a sequence, in the cache


class StepState(NamedTuple):
    """What the next step wants to know. A step writes into its tensors, so each state serves one step."""

    weights: StackWeights
    source: Tensor | None  # [L, 2, N, H, S, d], keys and values, if there is a source
    source_mask: Tensor | None  # [N, 1, 1, S], 0 or minus infinity; None if nothing is padding
    cache: Tensor  # [L, 2, N, H, C, d], keys and values of all that was written
    self_mask: Tensor | None  # [N, 1, K, C], 0 for what this sequence wrote, else minus infinity; None if K is 1
    diagonal_mask: Tensor | None  # [K, K], 0 where a sequence meets itself, else minus infinity; None if K is 1
    copies: int  # K
    length: int  # of the target so far
    filled: int  # positions of the cache that are taken: those of a prefix once, all others once for each sequence

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
            source=None if self.source is None else self.source.index_select(2, kept),
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


def start_steps(
    weights: StackWeights,
    cross: LinearWeights | None,
    encoded: Encoded | None,
    *,
    heads: int,
    copies: int,
    size: int | None = None,
) -> StepState:
    """The state before the first step, with the source projected once, if there is one.

    size    how many sentences there are, if no source tells it
    cross   makes keys and values of the source for all layers, `[2 L D, D]`
    """
    qkv = weights.layers[0].qkv.weight
    layers, dim = len(weights.layers), qkv.shape[1]
    if heads < 1 or dim % heads:
        raise ValueError(f"heads: found {heads}, wanted a number that {dim} can be divided by")
    if copies < 1:
        raise ValueError(f"copies: found {copies}, wanted at least 1")
    if (cross is None) != (encoded is None):
        raise ValueError("encoded: wanted a source where the layers look at one, and none where they do not")
    source = source_mask = None
    if cross is not None and encoded is not None:
        size = len(encoded.states)
        source, source_mask = _project_source(cross, encoded, layers=layers, heads=heads, like=qkv)
    if size is None:
        raise ValueError("size: found none, wanted the number of sentences, where no source tells it")
    capacity = _INITIAL_CAPACITY * copies
    self_mask = diagonal_mask = None
    if copies > 1:
        self_mask = qkv.new_full((size, 1, copies, capacity), -torch.inf)
        diagonal_mask = qkv.new_full((copies, copies), -torch.inf).fill_diagonal_(0)
    cache = qkv.new_empty(layers, 2, size, heads, capacity, dim // heads)
    return StepState(weights, source, source_mask, cache, self_mask, diagonal_mask, copies, length=0, filled=0)


def _project_source(
    cross: LinearWeights, encoded: Encoded, *, layers: int, heads: int, like: Tensor
) -> tuple[Tensor, Tensor | None]:
    """Keys and values for all layers, `[L, 2, N, H, S, d]`, and what is added to scores, `[N, 1, 1, S]`."""
    expect_states(encoded, like.dtype)
    sentences, items, _ = encoded.states.shape
    dim = like.shape[1]
    expect_matrix("cross", cross, (2 * layers * dim, encoded.states.shape[2]), like.dtype)
    projected = cross(encoded.states).view(sentences, items, layers, 2, heads, dim // heads)
    mask = None
    if not bool(encoded.mask.all()):
        mask = encoded.states.new_zeros(encoded.mask.shape).masked_fill_(~encoded.mask, -torch.inf)[:, None]
    return projected.permute(2, 3, 0, 4, 1, 5).contiguous(), mask


def decode_step(x: Tensor, state: StepState, *, need_weights: bool) -> tuple[Tensor, StepState, Tensor | None]:
    """Read one token of each sequence, `[N * K, D]`.

    Gives features `[N * K, D]`, the state after it, and the weights `[N * K, L, H, S]` if they are wanted.
    """
    _expect_rows(x, state)
    state = _ensure_capacity(state, state.copies)
    if state.self_mask is not None and state.diagonal_mask is not None:
        # what is written now can be context by whoever writes it
        state.self_mask[..., state.filled : state.filled + state.copies] = state.diagonal_mask
    native = None if need_weights or state.weights.addresses is None else NativeLoops.for_tensor(x)
    loops = TorchLoops(keeps_weights=need_weights) if native is None else native
    if native is not None and state.weights.fused is not None and len(x) <= MAX_FUSED_ROWS:
        x = native.fused_step(x, state)
    else:
        for number in range(len(state.weights.layers)):
            x = _layer_step(x, number, state, loops)
    weights = torch.stack(loops.weights, dim=1) if loops.weights else None
    return x, state._replace(length=state.length + 1, filled=state.filled + state.copies), weights


def read_prefix(x: Tensor, state: StepState) -> StepState:
    """Read the first tokens of each sentence, `[N, P, D]`, in one pass; all of its sequences go on from them."""
    _, _, sentences, heads, _, size = state.cache.shape
    if (
        state.length
        or x.dim() != 3
        or (len(x), x.shape[2]) != (sentences, heads * size)
        or x.dtype != state.cache.dtype
    ):
        raise ValueError(
            f"x: found shape {list(x.shape)} of {x.dtype} after {state.length} tokens, wanted"
            f" [{sentences}, tokens, {heads * size}] of {state.cache.dtype} after none"
        )
    length = x.shape[1]
    state = _ensure_capacity(state, length + state.copies)
    # tokens of one sentence side by side, as the sequences of one sentence are in a step; each may look at those before
    hidden = x.new_full((length, length), -torch.inf).triu(1)[None, None]  # [1, 1, P, P]
    together, rows = state._replace(self_mask=hidden, copies=length), x.flatten(0, 1)
    for number in range(len(state.weights.layers)):
        rows = _layer_step(rows, number, together, TorchLoops(keeps_weights=False))
    if state.self_mask is not None:
        state.self_mask[..., :length] = 0
    return state._replace(length=length, filled=length)


def _expect_rows(x: Tensor, state: StepState) -> None:
    _, _, sentences, heads, _, size = state.cache.shape
    wanted = sentences * state.copies, heads * size
    if x.shape != wanted or x.dtype != state.cache.dtype:
        raise ValueError(f"x: found shape {list(x.shape)} of {x.dtype}, wanted {list(wanted)} of {state.cache.dtype}")


def _layer_step(x: Tensor, number: int, state: StepState, loops: "TorchLoops | NativeLoops") -> Tensor:
    """Rows `[N * K, D]` through one layer."""
    layer, pre_norm = state.weights.layers[number], state.weights.pre_norm
    projected = layer.qkv(layer.self_norm(x) if pre_norm else x)
    x = x + layer.self_output(loops.self_attention(projected, number, state))
    x = x if pre_norm else layer.self_norm(x)

    if layer.cross_norm is not None and layer.cross_query is not None and layer.cross_output is not None:
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
        """Self-attention of layer `number`: query, key and value `[N * K, 3 D]` -> what is context, `[N * K, D]`.

        The new keys and values are written into the cache.
        """
        _, _, sentences, heads, _, size = state.cache.shape
        first, last = state.filled, state.filled + state.copies
        parts = projected.view(sentences, state.copies, 3, heads, size).permute(2, 0, 3, 1, 4)  # [3, N, H, K, d]
        cache = state.cache[number]
        cache[:, :, :, first:last] = parts[1:]
        keys, values = cache[:, :, :, :last]  # [N, H, C, d] each
        mask = None if state.self_mask is None else state.self_mask[..., :last]
        context = F.scaled_dot_product_attention(parts[0], keys, values, attn_mask=mask, scale=state.weights.scale)
        return context.transpose(1, 2).reshape(len(projected), heads * size)

    def cross_attention(self, query: Tensor, number: int, state: StepState) -> Tensor:
        """Attention of layer `number` to the source: `[N * K, D]` -> what is context, `[N * K, D]`."""
        keys, values = _source_of(state, number)  # [N, H, S, d] each
        sentences, heads, _, size = keys.shape
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
        library = step_library(x)
        return None if library is None else cls(library)

    def fused_step(self, x: Tensor, state: StepState) -> Tensor:
        """All layers in one call."""
        layers, _, sentences, heads, capacity, size = state.cache.shape
        items = 0 if state.source is None else state.source.shape[4]
        dim, inner = heads * size, len(state.weights.layers[0].inner.weight)
        x = x.clone(memory_format=torch.contiguous_format)
        workspace = x.new_empty(len(x) * (dim + max(inner, 3 * dim) + max(items, capacity)))
        call(
            self._library.transformer_step,
            (
                *(x, state.weights.addresses, state.weights.eps),
                *(state.source, state.source_mask, state.cache, state.self_mask, workspace),
            ),
            *(sentences, state.copies, items, capacity, state.filled + state.copies),
            *(dim, heads, inner, layers, int(state.weights.pre_norm), state.weights.fused or 0, state.weights.scale),
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
            *(rows, state.copies, heads, dim, capacity, state.filled + state.copies, state.weights.scale),
        )
        return context

    def cross_attention(self, query: Tensor, number: int, state: StepState) -> Tensor:
        """As in `TorchLoops`."""
        keys, values = _source_of(state, number)
        _, heads, items, _ = keys.shape
        context, workspace = torch.empty_like(query), query.new_empty(len(query) * items)
        call(
            self._library.cross_attention,
            (query, keys, values, state.source_mask, workspace, context),
            *(len(query), state.copies, heads, query.shape[1], items, state.weights.scale),
        )
        return context


def _source_of(state: StepState, number: int) -> Tensor:
    """Keys and values of the source for layer `number`, `[2, N, H, S, d]`."""
    assert state.source is not None, "layers that look at a source have one: start_steps made sure of it"
    return state.source[number]


def _ensure_capacity(state: StepState, wanted: int) -> StepState:
    """The state with so many free positions in the cache: it grows to twice its size, or more if that is too little."""
    capacity = state.cache.shape[4]
    if state.filled + wanted <= capacity:
        return state
    more = max(capacity, state.filled + wanted - capacity)
    cache = F.pad(state.cache, (0, 0, 0, more))
    self_mask = None if state.self_mask is None else F.pad(state.self_mask, (0, more), value=-torch.inf)
    return state._replace(cache=cache, self_mask=self_mask)
