"""What a score is: the interface that every alignment score keeps to."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_one_size


class Score(nn.Module, ABC):
    """How well a query fits a key.

    A score is computed in three parts, so that what concerns the keys alone is done once for a sequence, however many
    queries come one after another:

        queries(query)   [B, T, Dq] -> [B, T, D]          the projected query
        keys(key)        [B, S, Dk] -> [B, S, E]          the projected keys
        compare(q, k)    [B, T, D], [B, S, E] -> [B, T, S]

    `B` batch (any leading dimensions, heads among them), `T` queries, `S` keys.
    """

    @property
    def is_dot_product(self) -> bool:
        """Whether `compare` is the plain dot product, which torch's fused kernel can take over."""
        return False

    @property
    def order_matters(self) -> bool:
        """Whether the score depends on the position of a key, not on its content alone."""
        return False

    @property
    def follows_query(self) -> bool:
        """Whether the score depends on the query at all."""
        return True

    @abstractmethod
    def queries(self, query: Tensor) -> Tensor:
        """The part of the queries, `[B, T, Dq]` -> `[B, T, D]`."""

    @abstractmethod
    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        """The part of the keys, `[B, S, Dk]` -> `[B, S, E]`; `start` is how many keys stand before these."""

    @abstractmethod
    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        """The scores `[B, T, S]` of prepared queries and keys."""

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """The scores themselves: `[B, T, Dq]`, `[B, S, Dk]` -> `[B, T, S]`."""
        return self.compare(self.queries(query), self.keys(key))


class DotProductScore(Score, ABC):
    """A score that is the dot product of its two parts."""

    @property
    def is_dot_product(self) -> bool:
        return True

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        expect_one_size(queries, keys)
        return queries @ keys.transpose(-1, -2)


class StatefulScore(Score, ABC):
    """A score with a state, made of earlier weights, so that its queries must come one after another.

    The state `past` is a tensor that goes in and comes out with each query: `[B, S]`, or `[B, S, N]` of `N` numbers for
    each key.
    """

    def initial_state(self, keys: Tensor) -> Tensor:
        """The state before the first query: zeros, `[B, S]`."""
        return torch.zeros(keys.shape[:-1], dtype=keys.dtype, device=keys.device)

    @abstractmethod
    def condition_keys(self, keys: Tensor, past: Tensor) -> Tensor:
        """The keys conditioned on the state: `[B, S, E]` and `past` -> `[B, S, E]`, for `compare`."""

    @abstractmethod
    def update_state(self, past: Tensor, weights: Tensor, *, visible: Tensor | None = None) -> Tensor:
        """The state after a query that gave `weights` `[B, S]`, like `past`.

        `visible` broadcasts to `[B, S]`: the keys that the query could see, all of them if it is None.
        """

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """The scores of first queries, with the initial state: `[B, T, S]`."""
        keys = self.keys(key)
        return self.compare(self.queries(query), self.condition_keys(keys, self.initial_state(keys)))
