"""Writing on past the context: the window slides, as `saccade.text.windows` says.

Letters: `B` batch, `T` tokens.
"""

from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from saccade.nets import Encoded, Searchable, Step
from saccade.text.windows import sliding_stride, window_begin

StateT = TypeVar("StateT")


class SlidingState(NamedTuple, Generic[StateT]):
    """What is in the window."""

    read: Tensor  # [B, T]
    state: StateT


class SlidingDecoder(Searchable[SlidingState[StateT]]):
    """A decoder without a source that writes on for ever: where its context is full, the window slides."""

    def __init__(self, decoder: Searchable[StateT], *, context: int) -> None:
        super().__init__()
        self.decoder, self.context, self.stride = decoder, context, sliding_stride(context)

    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> SlidingState[StateT]:
        if prefix is None:
            raise ValueError("prefix: found none, wanted one of [batch, tokens], if only of no tokens")
        # one more is read before anything is asked
        first = window_begin(prefix.shape[1] + 1, context=self.context, stride=self.stride)
        prefix = prefix[:, first:]
        read = prefix.repeat_interleave(copies, 0)
        return SlidingState(read, self.decoder.start(encoded, prefix=prefix, copies=copies))

    def step(
        self, tokens: Tensor, state: SlidingState[StateT], *, need_weights: bool = False, best: int | None = None
    ) -> Step[SlidingState[StateT]]:
        read, inner = state
        if read.shape[1] == self.context:
            read = read[:, self.stride :]
            inner = self.decoder.start(None, prefix=read)
        step = self.decoder.step(tokens, inner, need_weights=need_weights, best=best)
        return Step(step.logits, SlidingState(torch.cat([read, tokens[:, None]], dim=1), step.state), step.weights)

    def reorder(self, state: SlidingState[StateT], index: Tensor) -> SlidingState[StateT]:
        return SlidingState(state.read[index], self.decoder.reorder(state.state, index))
