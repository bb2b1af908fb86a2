"""Local attention: a window of keys around one position, which is known before any score."""

import math

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_at_least, expect_count, expect_last_dim
from saccade.attention._kernels.plain import masked_softmax
from saccade.attention.masks import last_visible
from saccade.attention.weightings.weighting import LocalWeighting, WeightingOutput, WindowedSoftmax


class LocalMonotonic(WindowedSoftmax, LocalWeighting):
    """A softmax over a window that moves one key with each query: local-m (Luong 2015).

    a[t] = softmax(e[t, p - window ... p + window]),    p = t

    Past the last key that a query may see, the window stays there, so that a target longer than its source still has
    something to look at. The state is the number of queries so far, `[B]`.
    """

    def __init__(self, window: int) -> None:
        super().__init__()
        expect_count("window", window)
        self.window = window

    def extra_repr(self) -> str:
        return f"window={self.window}"

    @property
    def order_matters(self) -> bool:
        return True

    def narrow(
        self, mask: Tensor | None, *, shape: torch.Size, device: torch.device, state: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        *batch, queries, keys = shape
        centre, state = _steps(batch, queries, last_visible(mask, keys, device=device), state)
        window = (torch.arange(keys, device=device) - centre[..., None]).abs() <= self.window  # [B, T, S]
        return window if mask is None else window & mask, state

    def centres(self, query: Tensor, *, last: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor | None]:
        *batch, queries, _ = query.shape
        return _steps(batch, queries, last, state)

    def weigh(self, scores: Tensor, *, distance: Tensor, visible: Tensor) -> Tensor:
        return masked_softmax(scores, visible)


def _steps(batch: list[int], queries: int, last: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor]:
    """The number of each query, but at most `last`, `[B, T]`; and how many there were in all, `[B]`."""
    first = torch.zeros(batch, dtype=torch.long, device=last.device) if state is None else state
    numbers = first[..., None] + torch.arange(queries, device=last.device)
    return torch.minimum(numbers, last), first + queries


class LocalPredictive(LocalWeighting):
    """A window around a predicted position, weighted by a Gaussian: local-p (Luong 2015).

    p[t]    = L sigmoid(vᵀ tanh(W q[t]))        L: keys up to the last one that the query may see
    a[t, s] = softmax(e[t, p - window ... p + window])[s] · exp(-(s - p)² / 2σ²),    σ = window / 2

    As in the paper the weights are not brought back to a sum of one after the Gaussian. The position learns through
    the Gaussian. `window=math.inf` is soft attention. `W` is `[dim, query_dim]`, `dim` = `query_dim` if none is given.
    """

    def __init__(self, query_dim: int, window: float, dim: int | None = None) -> None:
        super().__init__()
        expect_count("query_dim", query_dim)
        expect_at_least("window", window, 1)
        self.window = window
        self.hidden = nn.Linear(query_dim, query_dim if dim is None else dim, bias=False)
        self.v = nn.Parameter(torch.empty(self.hidden.out_features))
        nn.init.uniform_(self.v, -1 / math.sqrt(len(self.v)), 1 / math.sqrt(len(self.v)))

    def extra_repr(self) -> str:
        return f"window={self.window}"

    @property
    def sums_to_one(self) -> bool:
        return False

    @property
    def order_matters(self) -> bool:
        return True

    def positions(self, query: Tensor, *, mask: Tensor | None, keys: int) -> Tensor:
        """The predicted positions, `[B, T]`, each between 0 and the number of keys that the query may see."""
        return self.centres(query, last=last_visible(mask, keys, device=query.device), state=None)[0]

    def centres(self, query: Tensor, *, last: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor | None]:
        expect_last_dim("query", query, self.hidden.in_features)
        share = torch.sigmoid(torch.tanh(self.hidden(query)) @ self.v)
        if share.dtype in (torch.float16, torch.bfloat16):
            share = share.float()  # they cannot count far
        return share * (last + 1), state

    def forward(
        self, scores: Tensor, *, mask: Tensor | None, query: Tensor, state: Tensor | None = None
    ) -> WeightingOutput:
        keys = scores.shape[-1]
        centre = self.positions(query, mask=mask, keys=keys)[..., None]  # [B, T, 1]
        distance = torch.arange(keys, device=scores.device) - centre  # [B, T, S]
        window = distance.detach().abs() <= self.window
        visible = window if mask is None else window & mask
        return WeightingOutput(self.weigh(scores, distance=distance, visible=visible))

    def weigh(self, scores: Tensor, *, distance: Tensor, visible: Tensor) -> Tensor:
        gaussian = torch.exp(-2 * (distance / self.window) ** 2)  # (s - p)² / 2σ², σ = window / 2
        weights = (masked_softmax(scores, visible) * gaussian).to(scores.dtype)
        return weights.masked_fill(~visible, 0.0)  # nor does a gradient come to the Gaussian from there
