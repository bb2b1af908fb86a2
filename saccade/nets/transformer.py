"""The Transformer (Vaswani 2017): encoder and decoder stacks, with a cache.

Letters: `B` batch, `S` source items, `T` target items, `D` dim, `L` layers, `H` heads.
"""

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from saccade.attention import Learned, Memory, MultiHead, Rotary, Sinusoidal, make_score, padding_mask
from saccade.attention.positions import Combine
from saccade.attention.scores import Activation
from saccade.nets._kernels.project import project
from saccade.nets.decoder import Decoder, DecoderOutput, Encoded, Step, batch_size, repeat_rows
from saccade.nets.dropout import Dropout
from saccade.nets.fused_encoder import MAX_FUSED_TOKENS, EncoderStack, EncoderWeights, fused_encode, gather_encoder
from saccade.nets.transformer_steps import StepState, decode_step, read_prefix, start_steps
from saccade.nets.transformer_weights import (
    LayerWeights,
    LinearWeights,
    StackWeights,
    any_quantized,
    fast_layer_norm,
    fused_activation,
    gather,
    norm_of,
    scale_for_steps,
    stack,
)
from saccade.runtime.kernel_conditions import is_bare, is_eager
from saccade.runtime.linear import apply_linear
from saccade.runtime.prepared import derived

Norm = Literal["pre", "post"]
Positions = Literal["sinusoidal", "learned", "rotary", "none"]


class LayerShape(NamedTuple):
    """The sizes and options that all layers of a stack share."""

    dim: int
    heads: int
    feed_forward: int  # the inner size of the feed-forward parts
    norm: Norm
    positions: Positions
    score: str
    activation: Literal["relu", "gelu"]
    dropout: float
    attention_dropout: float
    feed_forward_dropout: float = 0.0  # after the activation, where the paper has none
    positions_combine: Combine = "add"
    score_activation: Activation = "tanh"

    def attention(self, *, rotary: bool) -> MultiHead:
        size = self.dim // self.heads
        return MultiHead(
            self.dim,
            self.heads,
            score=make_score(self.score, size, size, activation=self.score_activation),
            rotary=Rotary(size) if rotary else None,
            dropout=self.attention_dropout,
        )


class Residual(nn.Module):
    """A residual connection, its norm before the part ("pre") or after the sum ("post", as published)."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(shape.dim)
        self.dropout = Dropout(shape.dropout)
        self.pre_norm = shape.norm == "pre"

    def normalize_input(self, x: Tensor) -> Tensor:
        """`x`, normalised if the norm stands before the part."""
        return self.norm(x) if self.pre_norm else x

    def add(self, x: Tensor, output: Tensor) -> Tensor:
        """The sum of `x` and what the part gave of it, normalised if the norm stands after the sum."""
        x = self.dropout(output, onto=x)
        return x if self.pre_norm else self.norm(x)


class FeedForward(nn.Module):
    """Two linear maps with an activation between them, at each position by itself."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.inner = nn.Linear(shape.dim, shape.feed_forward)
        self.outer = nn.Linear(shape.feed_forward, shape.dim)
        self.activation = nn.ReLU() if shape.activation == "relu" else nn.GELU()
        self.dropout = Dropout(shape.feed_forward_dropout)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.activation(apply_linear(self.inner, x, rounded=self._may_round()))
        return apply_linear(self.outer, self.dropout(inner))

    def _may_round(self) -> bool:
        """Whether what stands between the two maps takes bfloat16: nobody looks in, and nothing is dropped."""
        drops = self.training and self.dropout.probability > 0
        return not drops and is_bare(self.outer, nn.Linear) and is_bare(self.activation, nn.ReLU, nn.GELU)


class TokenEmbedding(nn.Module):
    """Embeddings times √D, with their positions p: `[B, T]` -> `[B, T, D]`.

    x_t = √D E w_t + p_t,    or x_t = W [√D E w_t, p_t] where they are concatenated, p as large as x, W [D, 2D]
    """

    def __init__(self, embedding: nn.Embedding, shape: LayerShape, *, max_length: int) -> None:
        super().__init__()
        self.embedding = embedding
        self.scale = math.sqrt(shape.dim)
        self.dropout = Dropout(shape.dropout)
        self.positions: Sinusoidal | Learned | None = None
        if shape.positions == "sinusoidal":
            self.positions = Sinusoidal(shape.dim, combine=shape.positions_combine)
        elif shape.positions == "learned":
            self.positions = Learned(shape.dim, max_length, combine=shape.positions_combine)
        self.projection: nn.Linear | None = None
        if self.positions is not None and shape.positions_combine == "concatenate":
            self.projection = nn.Linear(2 * shape.dim, shape.dim, bias=False)
            nn.init.xavier_uniform_(self.projection.weight)

    def forward(self, tokens: Tensor, *, start: int = 0) -> Tensor:
        x = self.embedding(tokens) * self.scale
        x = x if self.positions is None else self.positions(x, start=start)
        return self.dropout(x if self.projection is None else apply_linear(self.projection, x))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.attention = shape.attention(rotary=shape.positions == "rotary")
        self.feed_forward = FeedForward(shape)
        self.attention_residual, self.feed_forward_residual = Residual(shape), Residual(shape)

    def forward(self, x: Tensor, mask: Tensor, *, need_weights: bool) -> tuple[Tensor, Tensor | None]:
        output = self.attention(self.attention_residual.normalize_input(x), mask=mask, need_weights=need_weights)
        x = self.attention_residual.add(x, output.context)
        x = self.feed_forward_residual.add(x, self.feed_forward(self.feed_forward_residual.normalize_input(x)))
        return x, output.weights

    def weights(self) -> EncoderWeights:
        """What the fused loop for short inputs needs of this layer."""
        attention = self.attention
        return EncoderWeights(
            norm_of(self.attention_residual.norm),
            stack(attention.query_projection, attention.key_projection, attention.value_projection),
            stack(attention.output_projection),
            norm_of(self.feed_forward_residual.norm),
            stack(self.feed_forward.inner),
            stack(self.feed_forward.outer),
        )


class TransformerEncoder(nn.Module):
    """`[B, S]` tokens -> states `[B, S, D]`. With "pre" norms, one more stands at the end."""

    def __init__(self, embedding: nn.Embedding, shape: LayerShape, *, layers: int, max_length: int) -> None:
        super().__init__()
        self.shape = shape
        self.tokens = TokenEmbedding(embedding, shape, max_length=max_length)
        self.layers = nn.ModuleList(EncoderLayer(shape) for _ in range(layers))
        self.norm = nn.LayerNorm(shape.dim) if shape.norm == "pre" else nn.Identity()

    def forward(self, source: Tensor, lengths: Tensor, *, need_weights: bool = False) -> Encoded:
        mask = padding_mask(lengths, size=source.shape[1])
        x = self.tokens(source)
        weights: list[Tensor] = []
        if not need_weights and not self.training:
            encoded = self._fused_encode(x, mask)
            if encoded is not None:
                return Encoded(self.norm(encoded), mask)
        for layer in self.layers:
            x, seen = layer(x, mask, need_weights=need_weights)
            if seen is not None:
                weights.append(seen)  # [B, H, S, S]
        return Encoded(self.norm(x), mask, weights=_stacked(weights))

    def _fused_encode(self, x: Tensor, mask: Tensor) -> Tensor | None:
        """All layers by one native loop, for short inputs; None where that is not for these layers, or not faster."""
        if torch.is_grad_enabled() or x[..., 0].numel() > MAX_FUSED_TOKENS:
            return None
        found = derived(self, self._stack)
        return None if found is None else fused_encode(x, mask, found)

    def _stack(self) -> EncoderStack | None:
        """The weights for the native loop, if it computes what these layers do."""
        layers = self._layers()
        scale = scale_for_steps(layers, EncoderLayer, FeedForward, Residual, heads=self.shape.heads)
        if scale is None or not all(fused_activation(layer.feed_forward.activation) == 0 for layer in layers):
            return None
        weights = tuple(layer.weights() for layer in layers)
        if any_quantized(weights):
            return None
        return gather_encoder(weights, pre_norm=self.shape.norm == "pre", heads=self.shape.heads, scale=scale)

    def _layers(self) -> list[EncoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, EncoderLayer)]


def _stacked(weights: list[Tensor]) -> Tensor | None:
    """Those of all layers, `[B, L, ...]`, if there are any."""
    return torch.stack(weights, dim=1) if weights else None


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source if there is one, feed-forward."""

    def __init__(self, shape: LayerShape, *, has_source: bool) -> None:
        super().__init__()
        self.attention = shape.attention(rotary=shape.positions == "rotary")
        self.cross_attention = shape.attention(rotary=False) if has_source else None
        self.feed_forward = FeedForward(shape)
        self.attention_residual = Residual(shape)
        self.cross_attention_residual = Residual(shape) if has_source else None
        self.feed_forward_residual = Residual(shape)

    def forward(
        self, x: Tensor, source: Memory | None, before: Memory | None, *, need_weights: bool, remembers: bool = True
    ) -> tuple[Tensor, Memory | None, Tensor | None, Tensor | None]:
        """Read `x` `[B, T, D]` after what is remembered in `before`; gives that memory with `x` added.

        Last come the weights on the target itself, and on the source, if there is one. Where nobody `remembers`,
        nothing comes before and no weights are wanted, the memory is None.
        """
        query = self.attention_residual.normalize_input(x)
        memory, self_weights = None, None
        if remembers:
            memory = self.attention.remember(query, before=before)
            # one query alone, the last, may look at everything
            causal = x.shape[1] > 1 if is_eager() else True  # of a shape that is left open nobody can say
            self_output = self.attention.recall(query, memory, causal=causal, need_weights=need_weights)
            context, self_weights = self_output.context, self_output.weights
        else:
            context = self.attention.look_back(query)
        x = self.attention_residual.add(x, context)
        weights = None
        if self.cross_attention is not None and self.cross_attention_residual is not None and source is not None:
            query = self.cross_attention_residual.normalize_input(x)
            cross_output = self.cross_attention.recall(query, source, need_weights=need_weights)
            weights = cross_output.weights
            x = self.cross_attention_residual.add(x, cross_output.context)
        x = self.feed_forward_residual.add(x, self.feed_forward(self.feed_forward_residual.normalize_input(x)))
        return x, memory, self_weights, weights

    def weights(self) -> LayerWeights:
        """What the steps need of this layer."""
        attention, cross, cross_residual = self.attention, self.cross_attention, self.cross_attention_residual
        return LayerWeights(
            norm_of(self.attention_residual.norm),
            stack(attention.query_projection, attention.key_projection, attention.value_projection),
            stack(attention.output_projection),
            None if cross_residual is None else norm_of(cross_residual.norm),
            None if cross is None else stack(cross.query_projection),
            None if cross is None else stack(cross.output_projection),
            norm_of(self.feed_forward_residual.norm),
            stack(self.feed_forward.inner),
            self.feed_forward.activation,
            stack(self.feed_forward.outer),
        )


class TransformerState(NamedTuple):
    """What a Transformer decoder goes on with in general: for each layer, the source and the target so far."""

    source: tuple[Memory | None, ...]
    target: tuple[Memory | None, ...]
    length: int  # of the target so far


class TransformerDecoder(Decoder[TransformerState | StepState]):
    """The decoder stack, for a whole target or token by token with a cache; without a source, it is a language model's.

    Without a gradient and with the usual scores, steps are those of `saccade.nets.transformer_steps`.
    """

    def __init__(
        self, embedding: nn.Embedding, shape: LayerShape, *, layers: int, max_length: int, has_source: bool = True
    ) -> None:
        super().__init__()
        self.shape = shape
        self.has_source = has_source
        self.tokens = TokenEmbedding(embedding, shape, max_length=max_length)
        self.layers = nn.ModuleList(DecoderLayer(shape, has_source=has_source) for _ in range(layers))
        self.norm = nn.LayerNorm(shape.dim) if shape.norm == "pre" else nn.Identity()
        self.output = nn.Linear(shape.dim, embedding.num_embeddings, bias=False)
        nn.init.normal_(self.output.weight, std=shape.dim**-0.5)

    def start(
        self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1
    ) -> TransformerState | StepState:
        size = batch_size(encoded, prefix, has_source=self.has_source)
        state = self._start_steps(encoded, size, copies)
        if state is not None:
            return state if prefix is None or not prefix.shape[1] else read_prefix(self.tokens(prefix), state)
        state = self._start(encoded)
        if prefix is not None and prefix.shape[1]:
            _, state, _, _ = self._read(prefix, state, need_weights=False)
        return (
            state
            if copies == 1
            else self.reorder(state, repeat_rows(size, copies, self.tokens.embedding.weight.device))
        )

    def _start(self, encoded: Encoded | None) -> TransformerState:
        source = [
            None
            if encoded is None or layer.cross_attention is None
            else layer.cross_attention.remember(encoded.states, mask=encoded.mask)
            for layer in self._layers()
        ]
        return TransformerState(tuple(source), (None,) * len(self.layers), 0)

    def step(
        self,
        tokens: Tensor,
        state: TransformerState | StepState,
        *,
        need_weights: bool = False,
        best: int | None = None,
    ) -> Step[TransformerState | StepState]:
        if isinstance(state, StepState):
            x = self.tokens(tokens[:, None], start=state.length)[:, 0]  # [B, D]
            x, state, weights = decode_step(x, state, need_weights=need_weights)
            features = fast_layer_norm(self.norm, x)
            return Step(project(features, self.output, best=best), state, weights, features)
        read, state, weights, _ = self._read(tokens[:, None], state, need_weights=need_weights)
        features, weights = read[:, 0], None if weights is None else weights[:, :, :, 0]
        return Step(project(features, self.output, best=best), state, weights, features)

    def reorder(self, state: TransformerState | StepState, index: Tensor) -> TransformerState | StepState:
        if isinstance(state, StepState):
            return state.reorder(index)
        source, target = (
            tuple(None if memory is None else memory.select(index) for memory in memories)
            for memories in (state.source, state.target)
        )
        return TransformerState(source, target, state.length)

    def forward(self, encoded: Encoded | None, previous: Tensor, *, need_weights: bool = False) -> DecoderOutput:
        batch_size(encoded, previous, has_source=self.has_source)
        features, _, weights, self_weights = self._read(
            previous, self._start(encoded), need_weights=need_weights, remembers=need_weights
        )
        return DecoderOutput(features, weights, self_weights=self_weights)

    def _read(
        self, tokens: Tensor, state: TransformerState, *, need_weights: bool, remembers: bool = True
    ) -> tuple[Tensor, TransformerState, Tensor | None, Tensor | None]:
        """Read tokens `[B, T]` after those before: features `[B, T, D]`, weights `[B, L, H, T, S]` and of their own."""
        x = self.tokens(tokens, start=state.length)
        memories: list[Memory | None] = []
        weights: list[Tensor] = []
        self_weights: list[Tensor] = []
        for layer, source, before in zip(self._layers(), state.source, state.target, strict=True):
            x, memory, own, seen = layer(x, source, before, need_weights=need_weights, remembers=remembers)
            memories.append(memory)
            if own is not None:
                self_weights.append(own)  # [B, H, T, T and what was before]
            if seen is not None:
                weights.append(seen)  # [B, H, T, S]
        state = TransformerState(state.source, tuple(memories), state.length + tokens.shape[1])
        return self.norm(x), state, _stacked(weights), _stacked(self_weights)

    def _start_steps(self, encoded: Encoded | None, size: int, copies: int) -> StepState | None:
        """The state for steps of `saccade.nets.transformer_steps`; None where they do not compute these layers."""
        found = None if self.training else derived(self, self._stack)
        return None if found is None else start_steps(*found, encoded, size=size, heads=self.shape.heads, copies=copies)

    def _stack(self) -> tuple[StackWeights, LinearWeights | None] | None:
        """The weights for the steps, and those of the source's keys and values; None if steps compute other layers."""
        layers = self._layers()
        scale = scale_for_steps(layers, DecoderLayer, FeedForward, Residual, heads=self.shape.heads)
        if scale is None:
            return None
        keys_and_values = [
            projection
            for layer in layers
            if layer.cross_attention is not None
            for projection in (layer.cross_attention.key_projection, layer.cross_attention.value_projection)
        ]
        weights = gather(tuple(layer.weights() for layer in layers), pre_norm=self.shape.norm == "pre", scale=scale)
        return weights, stack(*keys_and_values) if keys_and_values else None

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]
