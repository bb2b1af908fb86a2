"""Hard attention: one key for each query."""

from typing import Literal

import torch
from torch import Tensor

from saccade.attention._checks import expect_choice, expect_fraction
from saccade.attention._kernels.plain import masked_softmax
from saccade.attention.weightings.choice import Choice
from saccade.attention.weightings.weighting import Weighted, Weighting

Estimator = Literal["reinforce", "straight-through"]


class Hard(Weighting):
    """One location is drawn from `p = softmax(e)` in training and the likeliest is taken at inference (Xu 2015).

    The weights are 1 for the chosen key and 0 for the others, so no gradient reaches the scores through them. Training
    needs an estimator:

    - "reinforce": the draw comes back as `choice`, and `choice.loss(reward, baseline=...)` is the extra loss to add.
    - "straight-through" (Bengio 2013): backward, the weights pretend to have been `p`. Biased, and no extra loss.

    `expected` is the share of queries that get all of `p` in place of a draw, while training, and no part in the extra
    loss. Xu 2015 has 0.5, for a whole image at a time; here it is for each query. Draws alone say so little of
    where else to look that the scores may never learn to point.
    """

    def __init__(self, estimator: Estimator = "reinforce", *, expected: float = 0.0) -> None:
        super().__init__()
        expect_choice("estimator", estimator, ("reinforce", "straight-through"))
        expect_fraction("expected", expected)
        self.estimator: Estimator = estimator
        self.expected = expected

    def extra_repr(self) -> str:
        return f"{self.estimator!r}, expected={self.expected}"

    def forward(self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None) -> Weighted:
        probabilities = masked_softmax(scores, mask)  # [B, T, S]
        location = (_draw(probabilities) if self.training else probabilities).argmax(-1, keepdim=True)
        weights = torch.zeros_like(probabilities).scatter_(-1, location, 1.0)
        if mask is not None:
            weights = weights * mask  # a row that may look nowhere has no location
        if not self.training:
            return Weighted(weights)
        if self.estimator == "straight-through":
            return Weighted(self._mix(weights + (probabilities - probabilities.detach()), probabilities)[0])
        # what cannot be drawn counts as log 1 = 0: nothing for the sums, and no gradient
        log_probabilities = probabilities.masked_fill(probabilities == 0, 1.0).log()
        log_prob = (weights * log_probabilities).sum(-1)
        entropy = -(probabilities * log_probabilities).sum(-1)
        weights, drawn = self._mix(weights, probabilities)
        return Weighted(weights, choice=Choice(log_prob * drawn, entropy * drawn))

    def _mix(self, weights: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
        """The weights with their expectation for some of the queries, and which of them `[B, T]` keep their draw."""
        if not self.expected:
            return weights, weights.new_ones(weights.shape[:-1])
        drawn = torch.rand(weights.shape[:-1], device=weights.device) >= self.expected
        return torch.where(drawn[..., None], weights, probabilities), drawn


def _draw(probabilities: Tensor) -> Tensor:
    """Numbers whose largest is at `s` with probability `p[s]`: `p / exponential noise`, a form of the Gumbel trick."""
    return probabilities.detach() / torch.empty_like(probabilities).exponential_()
