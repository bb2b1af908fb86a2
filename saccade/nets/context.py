"""What a recurrent decoder knows of the source at each step: its attention, a vector that stays the same, or nothing.

Letters: `B` batch, `S` source items, `T` target items, `D` dim.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn

from saccade.attention import Attention, AttentionOutput, Memory, Soft, State, StatefulScore, make_score, make_weighting
from saccade.attention.scores import Activation
from saccade.nets.decoder import Encoded


class Context(nn.Module, ABC):
    """A context vector for each query."""

    size: int  # of a context vector
    follows_query: bool  # whether it depends on who asks
    shares_memory = True  # whether several queries can ask one memory, none knowing of the others
    grows = False  # whether the decoder's own states come into the memory

    @abstractmethod
    def remember(self, encoded: Encoded, first: Tensor) -> Memory:
        """Precompute what queries will ask of the source, once for all steps.

        first   the decoder's first states, of its top layer, `[B, D]`
        """

    @abstractmethod
    def recall(self, query: Tensor, memory: Memory, *, state: State, need_weights: bool) -> AttentionOutput:
        """The contexts of the queries `[B, T, D]`: `[B, T, size]`."""

    def without_source(self, first: Tensor) -> Memory:
        """The memory where there is no source, for first states like `[B, D]`."""
        raise ValueError(f"context: a {type(self).__name__} wants a source, and this decoder has none")

    def extend(self, memory: Memory, states: Tensor) -> Memory:
        """The memory after the decoder's states `[B, T, D]`, which asked it; that of a source stays as it was."""
        return memory


class AttentionContext(Context):
    """c_t = Σ_i a_ti h_i, by any score and any weighting of `saccade.attention`."""

    def __init__(self, dim: int, *, score: str, weighting: str, activation: Activation = "tanh") -> None:
        super().__init__()
        self.size = dim
        self.attention = Attention(make_score(score, dim, dim, activation=activation), make_weighting(weighting, dim))
        is_soft = isinstance(self.attention.weighting, Soft)
        self.shares_memory = is_soft and not isinstance(self.attention.score, StatefulScore)
        self.follows_query = not is_soft or self.attention.score.follows_query

    def remember(self, encoded: Encoded, first: Tensor) -> Memory:
        return self.attention.remember(encoded.states, mask=encoded.mask)

    def recall(self, query: Tensor, memory: Memory, *, state: State, need_weights: bool) -> AttentionOutput:
        return self.attention.recall(query, memory, state=state, need_weights=need_weights)


class PastContext(Context):
    """c_t = Σ_i<t a_ti s_i: the decoder attends to its own earlier states, all of them or the last `window`.

    There is no source; the memory grows by a state a step. The first step has nothing to look at, and gets zeros.
    """

    follows_query = True
    shares_memory = False  # each sequence has a past of its own
    grows = True

    def __init__(
        self, dim: int, *, score: str, weighting: str, window: int | None = None, activation: Activation = "tanh"
    ) -> None:
        super().__init__()
        self.size = dim
        self.window = window
        self.attention = Attention(make_score(score, dim, dim, activation=activation), make_weighting(weighting, dim))

    def remember(self, encoded: Encoded, first: Tensor) -> Memory:
        raise ValueError("context: a PastContext looks at no source")

    def without_source(self, first: Tensor) -> Memory:
        return self.attention.remember(first[:, None][:, :0])

    def recall(self, query: Tensor, memory: Memory, *, state: State, need_weights: bool) -> AttentionOutput:
        """The states of `memory` are those before the first query; the queries are states, and look at each other."""
        known, steps = memory.key.shape[-2], query.shape[-2]
        if steps > 1:
            memory = self.extend(memory, query[:, :-1])
        queries = known + torch.arange(steps, device=query.device)[:, None]  # [T, 1], how many states were before each
        keys = torch.arange(known + steps - 1, device=query.device)
        mask = keys < queries  # [T, S]
        if self.window is not None:
            mask &= keys >= queries - self.window
        return self.attention.recall(query, memory, mask=mask, state=state, need_weights=need_weights)

    def extend(self, memory: Memory, states: Tensor) -> Memory:
        return self.attention.remember(states, before=memory)


class SumContext(Context):
    """c_t = Σ_i h_i: every state counts the same at every step."""

    follows_query = False

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.size = dim

    def remember(self, encoded: Encoded, first: Tensor) -> Memory:
        mask = encoded.mask.to(encoded.states.dtype)  # [B, 1, S]
        total = mask @ encoded.states  # [B, 1, D]
        return Memory(mask.transpose(1, 2), total)  # the key is what the weights are: one for each real state

    def recall(self, query: Tensor, memory: Memory, *, state: State, need_weights: bool) -> AttentionOutput:
        weights = memory.key.transpose(1, 2).expand(-1, query.shape[1], -1) if need_weights else None
        return AttentionOutput(memory.value.expand(-1, query.shape[1], -1), weights, state)


class MeanContext(SumContext):
    """c_t = Σ_i h_i / S: the same as a sum, but for its size."""

    def remember(self, encoded: Encoded, first: Tensor) -> Memory:
        ones, total = super().remember(encoded, first)[:2]
        share = ones / ones.sum(1, keepdim=True)  # [B, S, 1]
        return Memory(share, total / ones.sum(1, keepdim=True))


class LastContext(Context):
    """c_t = h_T: what the encoder ends with, at every step (Cho 2014). There is nothing to look at."""

    follows_query = False

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.size = dim

    def remember(self, encoded: Encoded, first: Tensor) -> Memory:
        return _one_vector(encoded.final[0])

    def recall(self, query: Tensor, memory: Memory, *, state: State, need_weights: bool) -> AttentionOutput:
        return AttentionOutput(memory.value.expand(-1, query.shape[1], -1), None, state)


class FirstContext(LastContext):
    """c_t = s_0: the decoder's own first state, which is made of what the encoder ends with, at every step."""

    def remember(self, encoded: Encoded, first: Tensor) -> Memory:
        return _one_vector(first)


def _one_vector(vector: Tensor) -> Memory:
    """A memory of one value, `[B, D]`, that no key leads to."""
    return Memory(vector[:, None][..., :0], vector[:, None])


class GatedContext(Context):
    """c_t = β_t c'_t with β_t = σ(w s + b): the decoder says how much of what it saw it wants (Xu 2015)."""

    def __init__(self, inner: Context, dim: int) -> None:
        super().__init__()
        self.inner = inner
        self.gate = nn.Linear(dim, 1)
        self.size = inner.size
        self.follows_query = True
        self.shares_memory = inner.shares_memory

    def remember(self, encoded: Encoded, first: Tensor) -> Memory:
        return self.inner.remember(encoded, first)

    def recall(self, query: Tensor, memory: Memory, *, state: State, need_weights: bool) -> AttentionOutput:
        output = self.inner.recall(query, memory, state=state, need_weights=need_weights)
        return output._replace(context=torch.sigmoid(self.gate(query)) * output.context)


class NoContext(Context):
    """Nothing but the decoder's first state: all of the source squeezed through one vector (Sutskever 2014)."""

    follows_query = False
    size = 0

    def remember(self, encoded: Encoded, first: Tensor) -> Memory:
        return self.without_source(first)

    def without_source(self, first: Tensor) -> Memory:
        nothing = first[:, None][:, :0, :0]
        return Memory(nothing, nothing)

    def recall(self, query: Tensor, memory: Memory, *, state: State, need_weights: bool) -> AttentionOutput:
        return AttentionOutput(query[..., :0], None, state)


# What decoders without attention know of the source: its name, and how to make it from the size of a state.
FIXED_CONTEXTS: dict[str, Callable[[int], Context]] = {
    "none": lambda dim: NoContext(),
    "last": LastContext,
    "first": FirstContext,
    "sum": SumContext,
    "mean": MeanContext,
}


def make_context(score: str, weighting: str, dim: int, *, activation: Activation = "tanh") -> Context:
    """One of `FIXED_CONTEXTS`, or attention by the score of that name."""
    if score in FIXED_CONTEXTS:
        return FIXED_CONTEXTS[score](dim)
    return AttentionContext(dim, score=score, weighting=weighting, activation=activation)
