"""The draws of hard attention, and the loss by which they are learned."""

from typing import NamedTuple

import torch
from torch import Tensor


class Choice(NamedTuple):
    """Where hard attention looked, as far as learning needs it. Zero for a query that may look nowhere."""

    log_prob: Tensor  # [B, T], of the location that was drawn; carries the gradient to the scores
    entropy: Tensor  # [B, T], of the distribution that it was drawn from

    def loss(self, reward: Tensor | float, *, baseline: Tensor | float = 0.0, entropy_weight: float = 0.0) -> Tensor:
        """The extra loss of REINFORCE (Williams 1992; Xu 2015): `[B, T]`, to be added to the model's own.

            -(reward - baseline) · log_prob - entropy_weight · entropy

        Its gradient is, on average over the draws, that of the negative expected reward. `reward` (in Xu 2015 the log
        likelihood of the words) broadcasts to `[B, T]`; no gradient flows through it. `baseline` lowers the
        variance: see `moving_baseline`.
        """
        advantage = torch.as_tensor(reward - baseline).detach()
        return -advantage * self.log_prob - entropy_weight * self.entropy


def moving_baseline(baseline: Tensor | float, reward: Tensor, *, decay: float = 0.9) -> Tensor:
    """The moving average of rewards (Xu 2015): `decay · baseline + (1 - decay) · mean(reward)`, a number."""
    if not 0 <= decay <= 1:
        raise ValueError(f"decay: found {decay}, wanted 0 <= decay <= 1")
    return torch.as_tensor(decay * baseline + (1 - decay) * reward.detach().mean())
