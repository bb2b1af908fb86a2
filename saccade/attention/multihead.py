"""Several attentions side by side."""

import torch
from torch import Tensor, nn

from saccade.attention._checks import (
    expect_count,
    expect_fraction,
    expect_instance,
    expect_items,
    expect_last_dim,
    expect_mask,
    expect_pairs,
    expect_tensor,
)
from saccade.attention._kernels import rounded
from saccade.attention.functional import attention_path, recall
from saccade.attention.memory import AttentionOutput, Memory, State, prepare, zero_masked
from saccade.attention.positions import Rotary
from saccade.attention.scores.dot import ScaledDot
from saccade.attention.scores.score import Score
from saccade.attention.weightings.soft import Soft
from saccade.attention.weightings.weighting import Weighting
from saccade.runtime.kernel_conditions import is_bare, is_plain
from saccade.runtime.linear import apply_linear


class MultiHead(nn.Module):
    """Multi-head attention (Vaswani 2017) over any score and any weighting.

    head_h = attend(Wq_h query, Wk_h key, Wv_h value),    context = Wo (head_1, ..., head_H)

    `[B, T, dim]`, `[B, S, key_dim]`, `[B, S, value_dim]` -> context `[B, T, dim]`, weights `[B, H, T, S]`. Each of the
    `H` heads has size `dim / H`. The score is made for that size, and all heads share what it learns:
    `Additive(16, 16)` for `dim=64, heads=4`. Masks broadcast to `[B, T, S]`, or to `[B, H, T, S]` if they have four
    dimensions. A query that may look nowhere gets `Wo`'s bias.

    Self-attention is `layer(x)`, causal self-attention `layer(x, causal=True)`, cross-attention `layer(x, memory)`.
    With a key/value cache, in pieces of any length:

        cache = layer.remember(piece, before=cache)
        output = layer.recall(piece, cache, causal=True)
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        *,
        key_dim: int | None = None,
        value_dim: int | None = None,
        score: Score | None = None,
        weighting: Weighting | None = None,
        rotary: Rotary | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        expect_count("heads", heads)
        expect_count("dim", dim)
        if dim % heads:
            raise ValueError(f"dim: found {dim}, wanted a multiple of heads={heads}")
        score = ScaledDot() if score is None else score
        weighting = Soft() if weighting is None else weighting
        expect_instance("weighting", weighting, Weighting, example="Soft()")
        _expect_score_of_size(score, dim // heads)
        expect_fraction("dropout", dropout)
        if rotary is not None:
            expect_instance("rotary", rotary, Rotary, example=f"Rotary({dim // heads})")
            if rotary.dim != dim // heads:
                raise ValueError(f"rotary: found dim {rotary.dim}, wanted {dim // heads}, the size of a head")
        self.heads = heads
        self.score = score
        self.weighting = weighting
        self.rotary = rotary
        self.dropout = dropout
        self.query_projection = nn.Linear(dim, dim, bias=bias)
        self.key_projection = nn.Linear(dim if key_dim is None else key_dim, dim, bias=bias)
        self.value_projection = nn.Linear(dim if value_dim is None else value_dim, dim, bias=bias)
        self.output_projection = nn.Linear(dim, dim, bias=bias)
        for projection in (self.query_projection, self.key_projection, self.value_projection, self.output_projection):
            nn.init.xavier_uniform_(projection.weight)
            if bias:
                nn.init.zeros_(projection.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        state: State | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """As `attend`; without `key` it is self-attention."""
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None:
            _expect_batch("query", query, self.query_projection.in_features)
            expect_items("key", key, like=("query", query))
            shape = torch.Size((query.shape[0], self.heads, query.shape[1], key.shape[1]))
            if attention_path(self.score, self.weighting, shape=shape, need_weights=need_weights) != "fused":
                key, value = self._zero_masked(key, value, mask, queries=query.shape[1])
        memory = self._prepare(key, value)
        return self.recall(query, memory, mask=mask, causal=causal, state=state, need_weights=need_weights)

    def remember(
        self, key: Tensor, value: Tensor | None = None, *, mask: Tensor | None = None, before: Memory | None = None
    ) -> Memory:
        """Project and precompute keys and values once, after those of `before` if there are any."""
        value = key if value is None else value
        if mask is not None:
            key, value = self._zero_masked(key, value, mask, queries=1)
        return self._prepare(key, value, mask=mask, before=before)

    def _zero_masked(self, key: Tensor, value: Tensor, mask: Tensor, *, queries: int) -> tuple[Tensor, Tensor]:
        """Keys and values `[B, S, D]` with zeros where no query of any head may attend."""
        expect_pairs(key, value)
        mask = _for_heads(mask)
        expect_mask(mask, torch.Size((key.shape[0], self.heads, queries, key.shape[-2])))
        return zero_masked(key, value, mask.any(1) if mask.dim() == 4 else mask)

    def _prepare(
        self, key: Tensor, value: Tensor, *, mask: Tensor | None = None, before: Memory | None = None
    ) -> Memory:
        _expect_batch("key", key, self.key_projection.in_features)
        _expect_batch("value", value, self.value_projection.in_features)
        keys = self._split(apply_linear(self.key_projection, key))
        if self.rotary is not None:
            keys = self.rotary(keys, start=0 if before is None else before.key.shape[-2])
        values = self._split(apply_linear(self.value_projection, value))
        return prepare(keys, values, score=self.score, mask=None if mask is None else _for_heads(mask), before=before)

    def recall(
        self,
        query: Tensor,
        memory: Memory,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        state: State | None = None,
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Attend to precomputed keys and values. With rotary positions, the last query stands at the last key."""
        _expect_batch("query", query, self.query_projection.in_features)
        queries = self._split(apply_linear(self.query_projection, query))
        if self.rotary is not None:
            queries = self.rotary(queries, start=memory.key.shape[-2] - query.shape[-2])
        output = recall(
            queries,
            memory,
            score=self.score,
            weighting=self.weighting,
            mask=None if mask is None else _for_heads(mask),
            causal=causal,
            state=state,
            need_weights=need_weights,
            dropout=self.dropout if self.training else 0.0,
        )
        context = output.context.transpose(1, 2).flatten(2)  # [B, H, T, D / H] -> [B, T, D]
        return output._replace(context=apply_linear(self.output_projection, context))

    def look_back(self, x: Tensor) -> Tensor:
        """The context of `layer(x, causal=True)`, `[B, T, dim]`, where nobody wants keys and values later."""
        _expect_batch("x", x, self.query_projection.in_features)
        projections = self._joint_projections() if rounded.takes_rows(x) else None
        if projections is None:
            return self.recall(x, self.remember(x), causal=True).context
        return apply_linear(self.output_projection, rounded.rounded_self_attention(x, projections, heads=self.heads))

    def _joint_projections(self) -> rounded.Projections | None:
        """Those that one product can do, if attention is by scaled dot products and nothing else."""
        inner = (self.query_projection, self.key_projection, self.value_projection)
        plain = (
            self.rotary is None
            and not (self.training and self.dropout > 0)
            and is_bare(self.score, ScaledDot)
            and is_bare(self.weighting, Soft)
            and all(is_bare(one, nn.Linear) for one in (*inner, self.output_projection))
            and len({one.weight.shape for one in inner}) == 1
            and all(is_plain(one.weight) and one.weight.dtype == torch.float32 for one in inner)
        )
        if not plain:
            return None
        query, key, value = inner
        biases = None if query.bias is None else (query.bias, key.bias, value.bias)
        return rounded.Projections((query.weight, key.weight, value.weight), biases)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # [B, S, D] -> [B, H, S, D / H]


def _for_heads(mask: Tensor) -> Tensor:
    expect_tensor("mask", mask)
    return mask[:, None] if mask.dim() == 3 else mask  # [B, T, S] -> [B, 1, T, S]


def _expect_batch(name: str, tensor: Tensor, dim: int) -> None:
    expect_last_dim(name, tensor, dim)
    if tensor.dim() != 3:
        raise ValueError(f"{name}: found shape {list(tensor.shape)}, wanted [batch, items, {dim}]")


def _expect_score_of_size(score: Score, size: int) -> None:
    """Raise unless the score takes queries and keys of a head's size; tried once, on nothing."""
    expect_instance("score", score, Score, example="ScaledDot()")
    nothing = next(score.parameters(), torch.zeros((), device="cpu")).new_zeros(1, 1, size)
    try:
        score(nothing, nothing)
    except ValueError as error:
        raise ValueError(
            f"score: found one that does not take vectors of {size}, the size of a head: {error}"
        ) from None
