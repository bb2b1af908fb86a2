"""How a text that is longer than the context is read: in windows, each of which begins with a start and some overlap.

A window holds C tokens: a start, then text. Once it is full, the next one keeps the last K of its tokens and goes on.
Where a window begins depends on the position in the text alone, so that a text is as likely when it is scored as when
it is written. K = 0 is the cheapest; with K = (C - 1) // 2, a sliding window, all but the first tokens of the text are
foreseen from at least that many.

Letters: `B` batch, `T` tokens, `C` context, `K` tokens kept, `V` vocabulary.
"""

from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from saccade.nets import Encoded, Searchable, Step
from saccade.text import START

StateT = TypeVar("StateT")


class Window(NamedTuple):
    """A part of a text that is read at once."""

    first: int  # the first token of the text that it has
    scored: int  # the first that it is asked about: those before were foreseen by the window before
    end: int  # after the last


def overlap(context: int) -> int:
    """How many tokens a sliding window keeps."""
    return (context - 1) // 2


def windows(length: int, *, context: int, kept: int) -> list[Window]:
    """The windows of a text of `length` tokens; each token is asked about once."""
    found = [Window(0, 0, min(context, length))]
    while found[-1].end < length:
        first = found[-1].first + context - 1 - kept
        found.append(Window(first, found[-1].end, min(first + context, length)))
    return found


def last_window(length: int, *, context: int) -> int:
    """Where the window begins that foresees what comes after `length` tokens of text, where it slides."""
    return windows(length + 1, context=context, kept=overlap(context))[-1].first


class SlidingState(NamedTuple, Generic[StateT]):
    """What is in the window."""

    read: Tensor  # [B, T]
    state: StateT


class SlidingDecoder(Searchable[SlidingState[StateT]]):
    """A decoder without a source that writes on for ever: where its context is full, the window slides."""

    def __init__(self, decoder: Searchable[StateT], *, context: int) -> None:
        super().__init__()
        self.decoder, self.context = decoder, context

    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> SlidingState[StateT]:
        if prefix is None:
            raise ValueError("prefix: found none, wanted one of [batch, tokens], if only of no tokens")
        if prefix.shape[1]:
            # the last token of a prefix is read, and the next is foreseen from it
            first = last_window(prefix.shape[1] - 1, context=self.context)
            prefix = torch.cat([prefix[:, :1], prefix[:, 1 + first :]], dim=1)
        read = prefix.repeat_interleave(copies, 0)
        return SlidingState(read, self.decoder.start(encoded, prefix=prefix, copies=copies))

    def step(
        self, tokens: Tensor, state: SlidingState[StateT], *, need_weights: bool = False, best: int | None = None
    ) -> Step[SlidingState[StateT]]:
        read, inner = state
        if read.shape[1] == self.context:
            kept = read[:, self.context - overlap(self.context) :]
            read = torch.cat([torch.full_like(tokens, START)[:, None], kept], dim=1)
            inner = self.decoder.start(None, prefix=read)
        step = self.decoder.step(tokens, inner, need_weights=need_weights, best=best)
        return Step(step.logits, SlidingState(torch.cat([read, tokens[:, None]], dim=1), step.state), step.weights)

    def reorder(self, state: SlidingState[StateT], index: Tensor) -> SlidingState[StateT]:
        return SlidingState(state.read[index], self.decoder.reorder(state.state, index))

    def log_prob(self, encoded: Encoded | None, tokens: Tensor) -> Tensor:
        """As of `Searchable`, window by window."""
        text, total = tokens[:, 1:], torch.zeros(len(tokens), device=tokens.device)
        for first, scored, end in windows(text.shape[1], context=self.context, kept=overlap(self.context)):
            here = torch.cat([tokens[:, :1], text[:, first:end]], dim=1)
            total = total + self.decoder.log_prob(None, here)
            if scored > first:
                total = total - self.decoder.log_prob(None, here[:, : 1 + scored - first])
        return total
