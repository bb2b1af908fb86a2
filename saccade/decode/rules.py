"""What may be written, and what a finished hypothesis is worth.

Letters: `R` rows (hypotheses under way), `V` vocabulary, `S` source items.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from saccade.data import END, PAD, pad
from saccade.decode._kernels.best import best_tokens


class Hypothesis(NamedTuple):
    """A finished output."""

    ids: list[int]  # END last
    score: float  # what hypotheses are ranked by: the log probability, with its penalties
    log_prob: float


class Rules(NamedTuple):
    """What each row may write: a forced prefix first, no more than its limit, and never a special token but END."""

    limits: Tensor  # [R], tokens at most, END among them
    prefixes: Tensor  # [R, P], PAD where the prefix has ended
    nearest_limit: int  # no limit is lower

    def select(self, index: Tensor) -> "Rules":
        return Rules(self.limits[index], self.prefixes[index], self.nearest_limit)

    def apply(self, logits: Tensor, place: int) -> Tensor:
        """The log probabilities `[R, V]` of what may stand at `place`, minus infinity for all else."""
        log_probs = logits.float().log_softmax(-1)
        log_probs[:, :END] = -torch.inf  # PAD, UNKNOWN and START are the numbers before it
        if self._all_free(place):
            return log_probs
        forced = torch.where(self.limits <= place + 1, END, PAD)  # [R], PAD for "free"
        if place < self.prefixes.shape[1]:
            prefix = self.prefixes[:, place]
            forced = torch.where(prefix != PAD, prefix, forced)
        if bool((forced != PAD).any()):
            others = torch.arange(log_probs.shape[1]) != forced[:, None]
            log_probs = log_probs.masked_fill(others & (forced != PAD)[:, None], -torch.inf)
        return log_probs

    def best(self, logits: Tensor, place: int, count: int) -> tuple[Tensor, Tensor]:
        """Log probabilities and tokens `[R, count]` of the likeliest that may stand at `place`, the best first.

        If fewer may, the list is filled up with impossible ones; it is shorter if the vocabulary is.
        """
        count = min(count, logits.shape[1] - END)
        if self._all_free(place):
            return best_tokens(logits, count, first=END)
        values, tokens = self.apply(logits, place)[:, END:].topk(count)
        return values, tokens + END

    def _all_free(self, place: int) -> bool:
        """Whether nothing is prescribed to any row at this place."""
        return place + 1 < self.nearest_limit and place >= self.prefixes.shape[1]


def make_rules(limits: Sequence[int], prefixes: Sequence[Sequence[int]] | None) -> Rules:
    """The rules of a batch. A limit that leaves no room for its prefix and END is widened to it."""
    prefixes = [[]] * len(limits) if prefixes is None else prefixes
    wide = [max(limit, len(prefix) + 1) for limit, prefix in zip(limits, prefixes, strict=True)]
    return Rules(torch.tensor(wide), pad(prefixes), min(wide))


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6)^α, by which the log probability is divided (Wu 2016). α = 0: none."""
    return ((5 + length) / 6) ** alpha


def coverage_penalty(coverage: Tensor, real: Tensor, beta: float) -> Tensor:
    """β Σ_s log min(coverage_s, 1) over the real source items: `[R, S]` -> `[R]`, at most 0 (Wu 2016).

    `coverage` is the sum of the attention weights over all steps: what was hardly looked at counts against an output.
    """
    return beta * (coverage.clamp(1e-6, 1.0).log() * real).sum(-1)
