"""The score that sees the weights of the query before."""

from torch import Tensor, nn

from saccade.attention._checks import expect_count
from saccade.attention._kernels.additive import expect_size
from saccade.attention.scores.additive import Additive
from saccade.attention.scores.score import StatefulScore


class LocationAware(StatefulScore):
    """Additive, with convolutional features of the last weights `α` (Chorowski 2015).

    e[t, s] = vᵀ tanh(W q[t] + U k[s] + X f[s] + b),    f = F * α[t - 1]

    `F` holds `filters` kernels of `width` weights each, `X` is `[D, filters]`. Before the first query `α` is zero.
    The state is the last weights, `[B, S]`. Queries come one after another.
    """

    def __init__(
        self, query_dim: int, key_dim: int, dim: int | None = None, *, filters: int = 10, width: int = 31
    ) -> None:
        super().__init__()
        expect_count("filters", filters)
        if width < 1 or width % 2 == 0:
            raise ValueError(f"width: found {width}, wanted an odd number of at least 1, to have a middle")
        self.additive = Additive(query_dim, key_dim, dim)
        self.convolution = nn.Conv1d(1, filters, width, padding=width // 2, bias=False)
        self.feature_projection = nn.Linear(filters, len(self.additive.v))

    @property
    def order_matters(self) -> bool:
        return True

    def queries(self, query: Tensor) -> Tensor:
        return self.additive.queries(query)

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        return self.additive.projected_keys(key)

    def condition_keys(self, keys: Tensor, past: Tensor) -> Tensor:
        expect_size(keys, len(self.additive.v))
        *batch, size = past.shape
        features = self.convolution(past.to(keys.dtype).reshape(-1, 1, size))
        features = features.transpose(1, 2).reshape(*batch, size, -1)  # [N, filters, S] -> [B, S, filters]
        return self.additive.prepare_keys(keys + self.feature_projection(features))

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.additive.compare(queries, keys)

    def update_state(self, past: Tensor, weights: Tensor, *, visible: Tensor | None = None) -> Tensor:
        return weights
