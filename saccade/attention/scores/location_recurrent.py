"""The score that remembers the weights of all queries before, by a recurrent net."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention._checks import expect_count
from saccade.attention._kernels.additive import expect_size
from saccade.attention.scores.additive import Additive
from saccade.attention.scores.score import StatefulScore


class LocationRecurrent(StatefulScore):
    """Additive, with what a GRU at each key remembers of the weights `α` around it (after Yang 2017).

    m[t, s] = GRU(α[t - 1, s - r ... s + r], m[t - 1, s]),    m[0] = 0,    r = (width - 1) / 2
    e[t, s] = vᵀ tanh(W q[t] + U k[s] + X m[t, s])

    One GRU serves all keys, `X` is `[D, units]`, and beyond both ends the weights are zero. In the paper it is an LSTM.
    A key that a query may not see remembers nothing of it. The state is `m`, `[B, S, units]`. Queries come one after
    another.
    """

    def __init__(
        self, query_dim: int, key_dim: int, dim: int | None = None, *, units: int = 10, width: int = 5
    ) -> None:
        super().__init__()
        expect_count("units", units)
        if width < 1 or width % 2 == 0:
            raise ValueError(f"width: found {width}, wanted an odd number of at least 1, to have a middle")
        self.width = width
        self.additive = Additive(query_dim, key_dim, dim)
        self.units = units
        # reset, update and new, one after the other: of the weights around, and of what is remembered
        self.input_gates = nn.Linear(width, 3 * units)
        self.memory_gates = nn.Linear(units, 3 * units)
        self.memory_projection = nn.Linear(units, len(self.additive.v), bias=False)

    @property
    def order_matters(self) -> bool:
        return True

    def queries(self, query: Tensor) -> Tensor:
        return self.additive.queries(query)

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return self.additive.projected_keys(key)

    def initial_state(self, keys: Tensor) -> Tensor:
        return torch.zeros(*keys.shape[:-1], self.units, dtype=keys.dtype, device=keys.device)

    def condition_keys(self, keys: Tensor, past: Tensor) -> Tensor:
        expect_size(keys, len(self.additive.v))
        return self.additive.prepare_keys(keys + self.memory_projection(past.to(keys.dtype)))

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.additive.compare(queries, keys)

    def update_state(self, past: Tensor, weights: Tensor, *, visible: Tensor | None = None) -> Tensor:
        beyond = self.width // 2
        around = F.pad(weights, (beyond, beyond)).unfold(-1, self.width, 1)  # [B, S, width]
        reset_x, update_x, new_x = self.input_gates(around.to(past.dtype)).chunk(3, dim=-1)  # [B, S, units] each
        reset_m, update_m, new_m = self.memory_gates(past).chunk(3, dim=-1)
        update = torch.sigmoid(update_x + update_m)
        new = torch.tanh(new_x + torch.sigmoid(reset_x + reset_m) * new_m)
        now = ((1 - update) * new + update * past).to(past.dtype)
        return now if visible is None else torch.where(visible[..., None], now, past)
