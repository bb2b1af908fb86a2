"""Hard attention: one key for each query."""

from typing import Literal

import torch
from torch import Tensor

from saccade.attention._checks import expect_choice, expect_fraction
from saccade.attention._kernels.plain import masked_softmax
from saccade.attention.weightings.choice import Choice
from saccade.attention.weightings.weighting import Weighting, WeightingOutput

Estimator = Literal["reinforce", "straight-through"]


class Hard(Weighting):
    """One location is drawn from `p = softmax(e)` in training and the likeliest is taken at inference (Xu 2015).

    The weights are 1 for the chosen key and 0 for the others, so no gradient reaches the scores through them. Training
    needs an estimator:

    - "reinforce": the draw comes back as `choice`, and `choice.loss(reward, baseline=...)` is the extra loss to add.
    - "straight-through" (Bengio 2013): backward, the weights pretend to have been `p`. Biased, and no extra loss.

    `expected` is the share of sequences whose queries all get `p` itself in place of draws, while training, and have no
    part in the extra loss (0.5 in Xu 2015). Draws alone say so little of where else to look that the scores may never
    learn to point.
    """

    def __init__(self, estimator: Estimator = "reinforce", *, expected: float = 0.0) -> None:
        super().__init__()
        expect_choice("estimator", estimator, ("reinforce", "straight-through"))
        expect_fraction("expected", expected)
        self.estimator: Estimator = estimator
        self.expected = expected

    def extra_repr(self) -> str:
        return f"{self.estimator!r}, expected={self.expected}"

    def forward(
        self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None
    ) -> WeightingOutput:
        probabilities = masked_softmax(scores, mask)  # [B, T, S]
        location = _likeliest(_draw(probabilities) if self.training else probabilities)
        weights = torch.zeros_like(probabilities).scatter_(-1, location, 1.0)
        if mask is not None:
            weights = weights * mask  # a row that may look nowhere has no location
        if not self.training:
            return WeightingOutput(weights)
        drawn = torch.rand_like(scores[..., 0, :1]) >= self.expected if state is None else state  # [B, 1]
        choice = None
        if self.estimator == "straight-through":
            weights = weights + (probabilities - probabilities.detach())
        else:
            # what cannot be drawn counts as log 1 = 0: nothing for the sums, and no gradient
            log_probabilities = probabilities.masked_fill(probabilities == 0, 1.0).log()
            choice = Choice(
                log_prob=(weights * log_probabilities).sum(-1) * drawn,
                entropy=-(probabilities * log_probabilities).sum(-1) * drawn,
            )
        if self.expected:
            weights = torch.where(drawn[..., None], weights, probabilities)
        return WeightingOutput(weights, drawn, choice)

    def choose(self, scores: Tensor, *, mask: Tensor | None) -> Tensor:
        """The key that each query looks at when the model is used, `[B, T, 1]`; any, for one that may look nowhere."""
        return _likeliest(masked_softmax(scores, mask))


def _likeliest(probabilities: Tensor) -> Tensor:
    return probabilities.argmax(-1, keepdim=True)


def _draw(probabilities: Tensor) -> Tensor:
    """Numbers whose largest is at `s` with probability `p[s]`: `p / exponential noise`, a form of the Gumbel trick."""
    return probabilities.detach() / torch.empty_like(probabilities).exponential_()
