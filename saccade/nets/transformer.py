"""The Transformer (Vaswani 2017): encoder and decoder stacks, with a cache.

Letters: `B` batch, `S` source items, `T` target items, `D` dim, `L` layers, `H` heads.
"""

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from saccade.attention import (
    Attended,
    Learned,
    Memory,
    MultiHead,
    Rotary,
    Sinusoidal,
    make_score,
    padding_mask,
)
from saccade.nets.decoder import Decoder, Encoded, Forced, Step

Norm = Literal["pre", "post"]
Positions = Literal["sinusoidal", "learned", "rotary", "none"]


class LayerShape(NamedTuple):
    """The sizes and habits that all layers of a stack share."""

    dim: int
    heads: int
    feed_forward: int  # the inner size of the feed-forward parts
    norm: Norm
    positions: Positions
    score: str
    activation: Literal["relu", "gelu"]
    dropout: float
    attention_dropout: float

    def attention(self, *, rotary: bool) -> MultiHead:
        size = self.dim // self.heads
        return MultiHead(
            self.dim,
            self.heads,
            score=make_score(self.score, size, size),
            rotary=Rotary(size) if rotary else None,
            dropout=self.attention_dropout,
        )


class Residual(nn.Module):
    """A part with a way around it, normalised before the part ("pre") or after the sum ("post", as published)."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(shape.dim)
        self.dropout = nn.Dropout(shape.dropout)
        self.before = shape.norm == "pre"

    def enter(self, x: Tensor) -> Tensor:
        """What the part gets of `x`."""
        return self.norm(x) if self.before else x

    def leave(self, x: Tensor, change: Tensor) -> Tensor:
        """What becomes of `x` by what the part gave."""
        x = x + self.dropout(change)
        return x if self.before else self.norm(x)


class FeedForward(nn.Module):
    """Two linear maps with a bend between them, at each place by itself."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.inner = nn.Linear(shape.dim, shape.feed_forward)
        self.outer = nn.Linear(shape.feed_forward, shape.dim)
        self.bend = nn.ReLU() if shape.activation == "relu" else nn.GELU()
        self.dropout = nn.Dropout(shape.dropout)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(self.dropout(self.bend(self.inner(x))))


class TokensInPlace(nn.Module):
    """Embeddings times √D, with their positions: `[B, T]` -> `[B, T, D]`."""

    def __init__(self, embedding: nn.Embedding, shape: LayerShape, *, longest: int) -> None:
        super().__init__()
        self.embedding = embedding
        self.scale = math.sqrt(shape.dim)
        self.dropout = nn.Dropout(shape.dropout)
        self.positions: Sinusoidal | Learned | None = None
        if shape.positions == "sinusoidal":
            self.positions = Sinusoidal(shape.dim)
        elif shape.positions == "learned":
            self.positions = Learned(shape.dim, longest)

    def forward(self, tokens: Tensor, *, start: int = 0) -> Tensor:
        x = self.embedding(tokens) * self.scale
        return self.dropout(x if self.positions is None else self.positions(x, start=start))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.attention = shape.attention(rotary=shape.positions == "rotary")
        self.feed_forward = FeedForward(shape)
        self.around_attention, self.around_feed_forward = Residual(shape), Residual(shape)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.around_attention.leave(x, self.attention(self.around_attention.enter(x), mask=mask).context)
        return self.around_feed_forward.leave(x, self.feed_forward(self.around_feed_forward.enter(x)))


class TransformerEncoder(nn.Module):
    """`[B, S]` tokens -> states `[B, S, D]`. With "pre" norms, one more stands at the end."""

    def __init__(self, embedding: nn.Embedding, shape: LayerShape, *, layers: int, longest: int) -> None:
        super().__init__()
        self.tokens = TokensInPlace(embedding, shape, longest=longest)
        self.layers = nn.ModuleList(EncoderLayer(shape) for _ in range(layers))
        self.norm = nn.LayerNorm(shape.dim) if shape.norm == "pre" else nn.Identity()

    def forward(self, source: Tensor, lengths: Tensor) -> Encoded:
        mask = padding_mask(lengths, size=source.shape[1])
        x = self.tokens(source)
        for layer in self.layers:
            x = layer(x, mask)
        return Encoded(self.norm(x), mask)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, feed-forward."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.attention = shape.attention(rotary=shape.positions == "rotary")
        self.cross_attention = shape.attention(rotary=False)
        self.feed_forward = FeedForward(shape)
        self.around_attention, self.around_cross_attention = Residual(shape), Residual(shape)
        self.around_feed_forward = Residual(shape)

    def forward(
        self, x: Tensor, source: Memory, before: Memory | None, *, need_weights: bool
    ) -> tuple[Tensor, Memory, Attended]:
        """Read `x` `[B, T, D]` after what is remembered in `before`; gives that memory with `x` added."""
        query = self.around_attention.enter(x)
        memory = self.attention.remember(query, before=before)
        # one query alone, the last, may look at everything
        x = self.around_attention.leave(x, self.attention.recall(query, memory, causal=x.shape[1] > 1).context)
        query = self.around_cross_attention.enter(x)
        attended = self.cross_attention.recall(query, source, need_weights=need_weights)
        x = self.around_cross_attention.leave(x, attended.context)
        x = self.around_feed_forward.leave(x, self.feed_forward(self.around_feed_forward.enter(x)))
        return x, memory, attended


class TransformerState(NamedTuple):
    """What a Transformer decoder goes on with: for each layer, the source and the target so far."""

    source: tuple[Memory, ...]
    target: tuple[Memory | None, ...]
    length: int  # of the target so far


class TransformerDecoder(Decoder[TransformerState]):
    """The decoder stack, for a whole target or token by token with a cache."""

    def __init__(self, embedding: nn.Embedding, shape: LayerShape, *, layers: int, longest: int) -> None:
        super().__init__()
        self.tokens = TokensInPlace(embedding, shape, longest=longest)
        self.layers = nn.ModuleList(DecoderLayer(shape) for _ in range(layers))
        self.norm = nn.LayerNorm(shape.dim) if shape.norm == "pre" else nn.Identity()
        self.output = nn.Linear(shape.dim, embedding.num_embeddings, bias=False)
        nn.init.normal_(self.output.weight, std=shape.dim**-0.5)

    def start(self, encoded: Encoded) -> TransformerState:
        source = tuple(layer.cross_attention.remember(encoded.states, mask=encoded.mask) for layer in self._layers())
        return TransformerState(source, (None,) * len(self.layers), 0)

    def step(self, tokens: Tensor, state: TransformerState, *, need_weights: bool = False) -> Step[TransformerState]:
        features, state, weights = self._read(tokens[:, None], state, need_weights=need_weights)
        return Step(self.output(features[:, 0]), state, None if weights is None else weights[:, :, :, 0])

    def reorder(self, state: TransformerState, index: Tensor) -> TransformerState:
        source = tuple(memory.select(index) for memory in state.source)
        target = tuple(None if memory is None else memory.select(index) for memory in state.target)
        return TransformerState(source, target, state.length)

    def forward(self, encoded: Encoded, previous: Tensor, *, need_weights: bool = False) -> Forced:
        features, _, weights = self._read(previous, self.start(encoded), need_weights=need_weights)
        return Forced(features, weights)

    def _read(
        self, tokens: Tensor, state: TransformerState, *, need_weights: bool
    ) -> tuple[Tensor, TransformerState, Tensor | None]:
        """Read tokens `[B, T]` after those before: features `[B, T, D]`, weights `[B, L, H, T, S]`."""
        x = self.tokens(tokens, start=state.length)
        memories: list[Memory] = []
        weights: list[Tensor] = []
        for layer, source, before in zip(self._layers(), state.source, state.target, strict=True):
            x, memory, attended = layer(x, source, before, need_weights=need_weights)
            memories.append(memory)
            if attended.weights is not None:
                weights.append(attended.weights)  # [B, H, T, S]
        state = TransformerState(state.source, tuple(memories), state.length + tokens.shape[1])
        return self.norm(x), state, torch.stack(weights, dim=1) if weights else None

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]
