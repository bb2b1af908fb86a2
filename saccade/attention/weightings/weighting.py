"""What a weighting is: the interface that every way from scores to weights keeps to."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from saccade.attention._kernels.plain import masked_softmax
from saccade.attention.weightings.choice import Choice


class WeightingOutput(NamedTuple):
    """What a weighting gives."""

    weights: Tensor  # [B, T, S]
    state: Tensor | None = None  # the state for the next query's call, batch first
    choice: Choice | None = None  # the draws of hard attention, for its extra loss


class Weighting(nn.Module, ABC):
    """How scores become weights.

    `B` batch (any leading dimensions, heads among them), `T` queries, `S` keys, `D` the size of a query.
    """

    @property
    def sums_to_one(self) -> bool:
        """Whether the weights of a query that sees a key at all always sum to one, and not perhaps to less."""
        return True

    @property
    def order_matters(self) -> bool:
        """Whether the weights depend on the position of a key, not on its score alone."""
        return False

    @abstractmethod
    def forward(
        self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None
    ) -> WeightingOutput:
        """Scores `[B, T, S]` of the queries `[B, T, D]` -> weights `[B, T, S]`, zero where `mask` is False."""


class LocalWeighting(Weighting, ABC):
    """A weighting that knows where it looks before it sees a score: at a window of keys around one position.

    In use, when nobody asks for weights, nothing is computed of the keys outside.
    """

    window: float  # how far it reaches to either side

    @abstractmethod
    def centres(self, query: Tensor, *, last: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """The positions `[B, T]` that the queries look around, and the state after them.

        `last` is the last key that each query may see, and broadcasts to `[B, T]`.
        """

    @abstractmethod
    def weigh(self, scores: Tensor, *, distance: Tensor, visible: Tensor) -> Tensor:
        """The weights of keys so far from the centre, zero where they are not `visible`: `[B, T, W]` each."""


class WindowedSoftmax(Weighting, ABC):
    """A softmax over what a mask leaves, which the fused and the tiled kernel can compute."""

    @abstractmethod
    def narrow(
        self, mask: Tensor | None, *, shape: torch.Size, device: torch.device, state: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        """The mask that holds for scores of `shape`, and the state after them."""

    def forward(
        self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None
    ) -> WeightingOutput:
        mask, state = self.narrow(mask, shape=scores.shape, device=scores.device, state=state)
        return WeightingOutput(masked_softmax(scores, mask), state)
