"""What may be written, and what a finished hypothesis is worth.

Letters: `R` rows (active hypotheses), `V` vocabulary, `S` source items.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from saccade.runtime.kernels.best import best_tokens
from saccade.text import END, PAD, pad


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

    def apply(self, logits: Tensor, position: int) -> Tensor:
        """The log probabilities `[R, V]` of what may stand at `position`, minus infinity for all else."""
        log_probs = logits.float().log_softmax(-1)
        log_probs[:, :END] = -torch.inf  # PAD, UNKNOWN and START are the numbers before it
        forced = self._forced(position)
        if forced is None:
            return log_probs
        others = torch.arange(log_probs.shape[1]) != forced[:, None]
        return log_probs.masked_fill(others & (forced != PAD)[:, None], -torch.inf)

    def best(self, logits: Tensor, position: int, count: int) -> tuple[Tensor, Tensor]:
        """Log probabilities and tokens `[R, count]` of the likeliest that may stand at `position`, the best first.

        If fewer may, the list is filled up with impossible ones; it is shorter if the vocabulary is.
        """
        values, tokens = best_tokens(logits, min(count, logits.shape[1] - END), END)
        forced = self._forced(position)
        if forced is None:
            return values, tokens
        # what a row is forced to write has its logit, less what the best of the row lost by the softmax
        is_forced = forced != PAD
        wanted = torch.where(is_forced, forced, tokens[:, 0])[:, None]
        lost = logits.gather(1, tokens[:, :1]).float() - values[:, :1]
        log_probs = torch.where(values[:, :1] == -torch.inf, -torch.inf, logits.gather(1, wanted).float() - lost)
        values = values.masked_fill(is_forced[:, None], -torch.inf)
        return torch.cat([log_probs, values[:, 1:]], dim=1), torch.cat([wanted, tokens[:, 1:]], dim=1)

    def candidates(self, position: int, count: int) -> int | None:
        """How many of the highest logits of a row `best` may choose from, if not END; None if others are prescribed."""
        return count + END if position >= self.prefixes.shape[1] else None  # the numbers before END are passed over

    def _forced(self, position: int) -> Tensor | None:
        """What each row has to write at this position, `[R]`, PAD if that is open; None if it is for all of them."""
        if self._all_free(position):
            return None
        forced = torch.where(self.limits <= position + 1, END, PAD)
        if position < self.prefixes.shape[1]:
            prefix = self.prefixes[:, position]
            forced = torch.where(prefix != PAD, prefix, forced)
        return forced if bool((forced != PAD).any()) else None

    def _all_free(self, position: int) -> bool:
        """Whether it is clear without a look at the rows that nothing is prescribed to any of them at this position."""
        return position + 1 < self.nearest_limit and position >= self.prefixes.shape[1]


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
