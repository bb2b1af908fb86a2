"""The mechanisms in float64, one number at a time, straight from the papers' formulas. Slow, and meant to be read.

Nothing here calls what it checks: parameters are taken from the modules, their arithmetic is not. A new score or
weighting gets its formula in `SCORE_FORMULAS` or `WEIGHTING_FORMULAS`; a test fails until it has one.

Shapes, without a batch: query `[T, Dq]`, key `[S, Dk]`, mask `[T, S]`.
"""

import copy
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from saccade.attention import (
    Additive,
    Cosine,
    Coverage,
    Dot,
    General,
    Hard,
    LocalMonotonic,
    LocalPredictive,
    Location,
    LocationAware,
    LocationRecurrent,
    Mix,
    Monotonic,
    Perceptron,
    ScaledDot,
    Score,
    Soft,
    Sparse,
    Static,
    Weighting,
)

Rows = list[Tensor]


class Past(Rows):
    """Rows of weights, and which keys each query could see: `[T, S]`."""

    def __init__(self, seen: Tensor) -> None:
        super().__init__()
        self.seen = seen


# (score, query vector, key vector, position of the key, past weights: oldest first, each over all keys) -> number
ScoreFormula = Callable[[Any, Tensor, Tensor, int, Rows], Tensor]
# (weighting, scores of a row, visible keys, query vector, number of the query, last row of weights) -> weights
WeightingFormula = Callable[[Any, Tensor, list[int], Tensor, int, Tensor | None], Tensor]


def dot(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([x * y for x, y in zip(a, b, strict=True)]).sum()


def times(matrix: Tensor, vector: Tensor) -> Tensor:
    return torch.stack([dot(row, vector) for row in matrix])


def cosine(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    return score.sharpness * dot(q, k) / (dot(q, q).sqrt() * dot(k, k).sqrt())


def sigmoid(x: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-x))


ACTIVATION_FORMULAS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": sigmoid,
    "relu": lambda x: torch.where(x > 0, x, 0 * x),
    "gelu": lambda x: x * (1 + torch.erf(x / math.sqrt(2))) / 2,  # x Φ(x), Φ the normal distribution's
}


def additive(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    activation = ACTIVATION_FORMULAS[score.activation]
    return dot(score.v, activation(times(score.query_projection.weight, q) + times(score.key_projection.weight, k)))


def perceptron(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    w, u = score.query_projection.weight[0], score.key_projection.weight[0]
    return ACTIVATION_FORMULAS[score.activation](dot(w, q) + dot(u, k))


def location(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    return dot(score.weight[s], q)


def general(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    return dot(q, times(score.weight, k))


def plain_dot(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    return dot(q, k)


def scaled_dot(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    return dot(q, k) / math.sqrt(len(q))


def location_aware(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    kernels = score.convolution.weight[:, 0]  # [filters, width]
    width = kernels.shape[1]
    features = torch.zeros(len(kernels), dtype=torch.float64)
    if past:
        for offset in range(width):
            at = s + offset - width // 2
            if 0 <= at < len(past[-1]):
                features = features + kernels[:, offset] * past[-1][at]
    inner = score.additive
    hidden = times(inner.query_projection.weight, q) + times(inner.key_projection.weight, k)
    hidden = hidden + times(score.feature_projection.weight, features) + score.feature_projection.bias
    return dot(inner.v, ACTIVATION_FORMULAS[inner.activation](hidden))


def gru(score: Any, x: Tensor, h: Tensor) -> Tensor:
    cell_x, cell_h = score.input_gates, score.memory_gates
    reset_x, update_x, new_x = (times(cell_x.weight, x) + cell_x.bias).chunk(3)
    reset_h, update_h, new_h = (times(cell_h.weight, h) + cell_h.bias).chunk(3)
    update = sigmoid(update_x + update_h)
    return (1 - update) * torch.tanh(new_x + sigmoid(reset_x + reset_h) * new_h) + update * h


def location_recurrent(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    memory, reach = torch.zeros(score.units, dtype=torch.float64), score.width // 2
    for t, weights in enumerate(past):
        assert isinstance(past, Past)
        if past.seen[t, s]:
            near = range(s - reach, s + reach + 1)
            around = [weights[at] if 0 <= at < len(weights) else 0 * weights[0] for at in near]
            memory = gru(score, torch.stack(around), memory)
    inner = score.additive
    hidden = times(inner.query_projection.weight, q) + times(inner.key_projection.weight, k)
    hidden = hidden + times(score.memory_projection.weight, memory)
    return dot(inner.v, ACTIVATION_FORMULAS[inner.activation](hidden))


def coverage(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    covered = sum((weights[s] for weights in past), start=torch.zeros((), dtype=torch.float64))
    inner = score.additive
    hidden = times(inner.query_projection.weight, q) + times(inner.key_projection.weight, k) + score.weight * covered
    return dot(inner.v, ACTIVATION_FORMULAS[inner.activation](hidden))


def mix(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    gate = 1 / (1 + torch.exp(-score.gate_logit))
    content = SCORE_FORMULAS[type(score.content)](score.content, q, k, s, past)
    return (1 - gate) * content + gate * location(score.location, q, k, s, past)


def static(score: Any, q: Tensor, k: Tensor, s: int, past: Rows) -> Tensor:
    return dot(score.v, torch.tanh(times(score.key_projection.weight, k)))


SCORE_FORMULAS: dict[type[Score], ScoreFormula] = {
    Cosine: cosine,
    Additive: additive,
    Perceptron: perceptron,
    Location: location,
    General: general,
    Dot: plain_dot,
    ScaledDot: scaled_dot,
    LocationAware: location_aware,
    LocationRecurrent: location_recurrent,
    Coverage: coverage,
    Mix: mix,
    Static: static,
}


def soft_over(scores: Tensor, chosen: list[int]) -> Tensor:
    """Softmax over the chosen keys, zero elsewhere."""
    weights = torch.zeros_like(scores)
    if chosen:
        total = torch.stack([torch.exp(scores[s]) for s in chosen]).sum()
        weights = torch.stack(
            [torch.exp(scores[s]) / total if s in chosen else 0 * scores[s] for s in range(len(scores))]
        )
    return weights


def soft(weighting: Any, scores: Tensor, visible: list[int], q: Tensor, t: int, last: Tensor | None) -> Tensor:
    return soft_over(scores, visible)


def hard(weighting: Any, scores: Tensor, visible: list[int], q: Tensor, t: int, last: Tensor | None) -> Tensor:
    weights = torch.zeros_like(scores)
    if visible:
        weights[max(visible, key=lambda s: scores[s].item())] = 1.0
    return weights


def local_monotonic(
    weighting: Any, scores: Tensor, visible: list[int], q: Tensor, t: int, last: Tensor | None
) -> Tensor:
    centre = min(t, max(visible, default=0))
    return soft_over(scores, [s for s in visible if abs(s - centre) <= weighting.window])


def local_predictive(
    weighting: Any, scores: Tensor, visible: list[int], q: Tensor, t: int, last: Tensor | None
) -> Tensor:
    length = max(visible, default=0) + 1
    activation = dot(weighting.v, torch.tanh(times(weighting.hidden.weight, q)))
    centre = length / (1 + torch.exp(-activation))
    sigma = weighting.window / 2
    near = [s for s in visible if abs(s - centre.item()) <= weighting.window]
    gaussian = torch.stack([torch.exp(-((s - centre) ** 2) / (2 * sigma**2)) for s in range(len(scores))])
    return soft_over(scores, near) * gaussian


def monotonic(weighting: Any, scores: Tensor, visible: list[int], q: Tensor, t: int, last: Tensor | None) -> Tensor:
    """Sum over all ways to walk: start where the last query stopped, pass by, stop (no recursion, unlike the code)."""
    if last is None:
        last = torch.tensor([1.0] + [0.0] * (len(scores) - 1), dtype=torch.float64)
    zero = torch.zeros((), dtype=torch.float64)
    stop = [1 / (1 + torch.exp(-(scores[s] + weighting.bias))) if s in visible else zero for s in range(len(scores))]
    if not weighting.training:
        stop = [(p > 0.5).double() for p in stop]
    weights = []
    for s in range(len(scores)):
        arrives = zero
        for begin in range(s + 1):
            walk = last[begin]
            for passed in range(begin, s):
                walk = walk * (1 - stop[passed])
            arrives = arrives + walk
        weights.append(arrives * stop[s])
    return torch.stack(weights)


def sparse(weighting: Any, scores: Tensor, visible: list[int], q: Tensor, t: int, last: Tensor | None) -> Tensor:
    """The threshold by bisection, then one exact step on the support that it finds."""
    if not visible:
        return torch.zeros_like(scores)
    seen = scores[visible]
    low, high = seen.min().item() - 1, seen.max().item()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (seen - middle).clamp(min=0).sum().item() > 1 else (low, middle)
    support = [s for s in visible if scores[s].item() > high]
    threshold = (scores[support].sum() - 1) / len(support)
    return torch.stack([scores[s] - threshold if s in support else 0 * scores[s] for s in range(len(scores))])


WEIGHTING_FORMULAS: dict[type[Weighting], WeightingFormula] = {
    Soft: soft,
    Hard: hard,
    LocalMonotonic: local_monotonic,
    LocalPredictive: local_predictive,
    Monotonic: monotonic,
    Sparse: sparse,
}


def reference_scores(score: Score, query: Tensor, key: Tensor) -> Tensor:
    """Scores of first queries, before anything has been seen: `[T, S]`."""
    formula, score = SCORE_FORMULAS[type(score)], copy.deepcopy(score).double()
    return torch.stack([torch.stack([formula(score, q, k, s, []) for s, k in enumerate(key)]) for q in query])


def reference_weights(score: Score, weighting: Weighting, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    """Weights of queries that come one after another: `[T, S]`."""
    score_formula, weighting_formula = SCORE_FORMULAS[type(score)], WEIGHTING_FORMULAS[type(weighting)]
    rows = Past(mask)
    for t, q in enumerate(query):
        scores = torch.stack([score_formula(score, q, k, s, rows) for s, k in enumerate(key)])
        visible = [s for s in range(len(key)) if mask[t, s]]
        rows.append(weighting_formula(weighting, scores, visible, q, t, rows[-1] if rows else None))
    return torch.stack(rows)
