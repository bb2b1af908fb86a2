"""The additive score without its output layer."""

from torch import Tensor, nn

from saccade.attention._checks import expect_choice, expect_count, expect_last_dim, expect_same_kind
from saccade.attention._kernels.additive import expect_size
from saccade.attention.scores.additive import ACTIVATIONS, Activation, activate
from saccade.attention.scores.score import Score
from saccade.runtime.linear import apply_linear


class Perceptron(Score):
    """The first form in which lectures show the additive score: a single unit, and no `v` after it.

    e[t, s] = tanh(w · q[t] + u · k[s])        [B, T, Dq], [B, S, Dk] -> [B, T, S],  w [Dq], u [Dk]

    With tanh a score lies between -1 and 1, so that under a softmax no key ever gets more than e² = 7.4 times the
    weight of another. `activation` may be another. It is computed as the formula stands, of one number for each query
    and one for each key.
    """

    def __init__(self, query_dim: int, key_dim: int, *, activation: Activation = "tanh") -> None:
        super().__init__()
        expect_count("query_dim", query_dim)
        expect_count("key_dim", key_dim)
        expect_choice("activation", activation, ACTIVATIONS)
        self.activation: Activation = activation
        self.query_projection = nn.Linear(query_dim, 1, bias=False)
        self.key_projection = nn.Linear(key_dim, 1, bias=False)

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}"

    def queries(self, query: Tensor) -> Tensor:
        expect_last_dim("query", query, self.query_projection.in_features)
        return apply_linear(self.query_projection, query)  # [B, T, 1]

    def keys(self, key: Tensor, *, start: int = 0) -> Tensor:
        expect_last_dim("key", key, self.key_projection.in_features)
        return apply_linear(self.key_projection, key)  # [B, S, 1]

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        expect_same_kind("key", keys, like=("query", queries))
        expect_size(keys, 1)
        return activate(queries + keys.transpose(-1, -2), self.activation)  # [B, T, S]
