"""What every decoder is: one contract, so that one search and one training serve them all.

Letters: `B` batch, `S` source items, `T` target items, `D` dim, `L` layers, `H` heads, `V` vocabulary.
"""

from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from saccade.attention import Choice
from saccade.nets._kernels.cross_entropy import Losses, projected_cross_entropy
from saccade.text import PAD


class Encoded(NamedTuple):
    """What an encoder makes of a batch, for a decoder to look at."""

    states: Tensor  # [B, S, D]
    mask: Tensor  # [B, 1, S], the states that are real
    final: tuple[Tensor, ...] = ()  # [B, D] each: what a recurrent encoder ends with
    weights: Tensor | None = None  # [B, L, H, S, S], what the source saw of itself, if asked for and there
    copy_ids: Tensor | None = None  # [B, S], the number that each token has when it is copied, if any can be

    def repeat(self, copies: int) -> "Encoded":
        """Each of the batch, `copies` times in a row."""
        rows = repeat_rows(len(self.states), copies, self.states.device)
        weights = None if self.weights is None else self.weights[rows]
        copy_ids = None if self.copy_ids is None else self.copy_ids[rows]
        return Encoded(self.states[rows], self.mask[rows], tuple(part[rows] for part in self.final), weights, copy_ids)


StateT = TypeVar("StateT")

_LOGITS_AT_ONCE = 1 << 24


class Step(NamedTuple, Generic[StateT]):
    """What one step gives."""

    logits: Tensor  # [B, V], of the next token
    state: StateT
    weights: Tensor | None  # [B, L, H, S], if they were asked for and there are any
    features: Tensor | None = None  # [B, D], what the logits were made of


class Copying(NamedTuple):
    """What a decoder that can copy from its source gives besides, at all positions of a target."""

    gate: Tensor  # [B, T], the logit of p_gen: that the token is written, not copied
    attention: Tensor  # [B, T, S], what would be copied
    copy_ids: Tensor  # [B, S], as in `Encoded`


class DecoderOutput(NamedTuple):
    """What a given target gives, at all its positions."""

    features: Tensor  # [B, T, D]; `decoder.output` makes logits of them
    weights: Tensor | None  # [B, L, H, T, S], if they were asked for and there are any
    choice: Choice | None = None  # the draws of hard attention, [B, T], for its extra loss
    self_weights: Tensor | None = None  # [B, L, H, T, T], what the target saw of itself, likewise
    copying: Copying | None = None  # of a decoder that can copy


def batch_size(encoded: Encoded | None, prefix: Tensor | None, *, has_source: bool) -> int:
    """How many sequences a decoder is to start, if it can do so with what it was given."""
    if has_source != (encoded is not None):
        wanted = "what an encoder gives" if has_source else "None: this decoder has no source"
        raise ValueError(f"encoded: found {'none' if encoded is None else 'a source'}, wanted {wanted}")
    if encoded is None and prefix is None:
        raise ValueError("prefix: found none, wanted one of [batch, tokens], if only of no tokens: nothing else counts")
    # not len(), which makes a number of a shape that is left open
    size = encoded.states.shape[0] if encoded is not None else prefix.shape[0] if prefix is not None else 0
    if prefix is not None and (prefix.dim() != 2 or prefix.shape[0] != size):
        raise ValueError(f"prefix: found shape {list(prefix.shape)}, wanted [{size}, tokens]")
    return size


def repeat_rows(sources: int, copies: int, device: torch.device | None = None) -> Tensor:
    """Each number below `sources`, `copies` times in a row."""
    return torch.arange(sources, device=device).repeat_interleave(copies)


class Searchable(nn.Module, ABC, Generic[StateT]):
    """What a search can go through: it says token by token what may come next, and keeps nothing between calls."""

    @abstractmethod
    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> StateT:
        """The state before the first step, of `copies` sequences for each of the batch, side by side.

        encoded   what to look at; None for a decoder that has no source
        prefix    `[B, P]` tokens that have been written already, the same number for all: they are read in one pass
        """

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

    def log_prob(self, encoded: Encoded | None, tokens: Tensor) -> Tensor:
        """The log probability of each row of tokens `[B, 1 + P]` after its first: `[B]`."""
        state, total = self.start(encoded, prefix=tokens[:, :0]), torch.zeros(len(tokens), device=tokens.device)
        for read, wanted in zip(tokens[:, :-1].unbind(1), tokens[:, 1:].unbind(1), strict=True):
            step = self.step(read, state)
            state = step.state
            total = total + step.logits.float().log_softmax(-1).gather(1, wanted[:, None])[:, 0]
        return total

    def _read_by_steps(self, tokens: Tensor, state: StateT) -> StateT:
        """The state after the tokens `[B, P]`, read one by one."""
        for token in tokens.unbind(1):
            state = self.step(token, state).state
        return state


class Decoder(Searchable[StateT], ABC):
    """Writes a target, token by token or all at once, while looking at what was encoded.

    `step` after `step` gives what `forward` gives, to rounding. The decoder keeps nothing between calls.
    """

    output: nn.Linear  # features [..., D] -> logits [..., V]

    @abstractmethod
    def forward(self, encoded: Encoded | None, previous: Tensor, *, need_weights: bool = False) -> DecoderOutput:
        """Read a whole target, `[B, T]`, each token before the one that it predicts."""

    def losses(self, decoder_output: DecoderOutput, target: Tensor, *, smoothing: float = 0.0) -> Losses:
        """The label-smoothed cross entropy (Szegedy 2016) of each of the tokens `[B, T]`, of padding 0."""
        features, output = decoder_output.features.flatten(0, 1), self.output
        return projected_cross_entropy(
            features, output.weight, output.bias, target.flatten(), smoothing=smoothing, ignore=PAD
        )

    def log_prob(self, encoded: Encoded | None, tokens: Tensor) -> Tensor:
        """As of `Searchable`, all tokens at once; of the logits, some exist at a time."""
        features = self(encoded, tokens[:, :-1]).features  # [B, P, D]
        some = max(1, _LOGITS_AT_ONCE // (len(tokens) * self.output.out_features))
        parts = [
            self.output(part).float().log_softmax(-1).gather(-1, wanted[..., None]).sum((1, 2))
            for part, wanted in zip(features.split(some, 1), tokens[:, 1:].split(some, 1), strict=True)
        ]
        return torch.stack(parts).sum(0)
