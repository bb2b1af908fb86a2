"""What every decoder is: one contract, so that one search and one training serve them all.

Letters: `B` batch, `S` source items, `T` target items, `D` dim, `L` layers, `H` heads, `V` vocabulary.
"""

from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from saccade.attention import Choice


class Encoded(NamedTuple):
    """What an encoder makes of a batch, for a decoder to look at."""

    states: Tensor  # [B, S, D]
    mask: Tensor  # [B, 1, S], the states that are real
    final: tuple[Tensor, ...] = ()  # [B, D] each: what a recurrent encoder ends with
    weights: Tensor | None = None  # [B, L, H, S, S], what the source saw of itself, if asked for and there

    def repeat(self, copies: int) -> "Encoded":
        """Each of the batch, `copies` times in a row."""
        rows = spread(len(self.states), copies, self.states.device)
        weights = None if self.weights is None else self.weights[rows]
        return Encoded(self.states[rows], self.mask[rows], tuple(part[rows] for part in self.final), weights)


StateT = TypeVar("StateT")


class Step(NamedTuple, Generic[StateT]):
    """What one step gives."""

    logits: Tensor  # [B, V], of the next token
    state: StateT
    weights: Tensor | None  # [B, L, H, S], if they were asked for and there are any


class DecoderOutput(NamedTuple):
    """What a given target gives, at all its positions."""

    features: Tensor  # [B, T, D]; `decoder.output` makes logits of them
    weights: Tensor | None  # [B, L, H, T, S], if they were asked for and there are any
    choice: Choice | None = None  # the draws of hard attention, [B, T], for its extra loss
    self_weights: Tensor | None = None  # [B, L, H, T, T], what the target saw of itself, likewise


def spread(sources: int, copies: int, device: torch.device | None = None) -> Tensor:
    """Each number below `sources`, `copies` times in a row."""
    return torch.arange(sources, device=device).repeat_interleave(copies)


class Searchable(nn.Module, ABC, Generic[StateT]):
    """What a search can go through: it says token by token what may come next, and keeps nothing between calls."""

    @abstractmethod
    def start(self, encoded: Encoded, *, copies: int = 1) -> StateT:
        """The state before the first token, of `copies` sequences for each that was encoded, side by side."""

    @abstractmethod
    def step(
        self, tokens: Tensor, state: StateT, *, need_weights: bool = False, best: int | None = None
    ) -> Step[StateT]:
        """Read one token for each sequence, `[B]`, and say what may come next.

        best    only so many logits of each row, the highest, will be looked at one by one, and that of END. The others
                may then be a little off, which a softmax over all of them does not show. None: any of them may be
                looked at.

        The state is used up: `step` may write into its tensors what the next state holds.
        """

    @abstractmethod
    def reorder(self, state: StateT, index: Tensor) -> StateT:
        """The state of the sequences `index` `[b]`, in that order: some may be gone, some be there twice.

        The `copies` sequences of one source stay together, side by side, as many as there were.
        """


class Decoder(Searchable[StateT], ABC):
    """Writes a target, token by token or all at once, while looking at what was encoded.

    `step` after `step` gives what `forward` gives, to rounding. The decoder keeps nothing between calls.
    """

    output: nn.Linear  # features [..., D] -> logits [..., V]

    @abstractmethod
    def forward(self, encoded: Encoded, previous: Tensor, *, need_weights: bool = False) -> DecoderOutput:
        """Read a whole target, `[B, T]`, each token before the one that it predicts."""
