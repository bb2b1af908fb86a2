"""why the scaled dot product divides by √d: the entropy of the weights against the size d"""

import math

import torch
from torch import Tensor

from saccade.attention import Dot, ScaledDot, Score, attend
from saccade.show._numbers import number
from saccade.show.lesson import Curves, Lesson, Table, Text

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
QUERIES, KEYS = 200, 32


def lesson(*, seed: int = 1) -> Lesson:
    torch.manual_seed(seed)
    spreads: list[float] = []
    entropies: dict[str, list[float]] = {"q · k": [], "q · k / √d": []}
    slopes: dict[str, list[float]] = {"q · k": [], "q · k / √d": []}
    for size in SIZES:
        query, key = torch.randn(1, QUERIES, size), torch.randn(1, KEYS, size)
        spreads.append(float(Dot()(query, key).std()))
        for name, score in (("q · k", Dot()), ("q · k / √d", ScaledDot())):
            weights = weights_of(score, query, key)
            entropies[name].append(entropy(weights))
            slopes[name].append(slope(weights))
    picked = [index for index, size in enumerate(SIZES) if size in {1, 4, 16, 64, 256, 1024}]
    plain, scaled = (entropies[name] for name in ("q · k", "q · k / √d"))
    return Lesson(
        "Why √d?",
        (
            Text(
                f"Queries and keys are drawn here with numbers of variance 1. A product q · k is a sum of d such"
                f" products, so its spread is √d: measured {spreads[SIZES.index(64)]:.1f} at d = 64. The larger the"
                " scores, the more of the weight goes to the largest of them. The entropy says how many keys share in"
                f" the weight: {math.log2(KEYS):.0f} bits if all {KEYS} keys have the same, 0 if one has it all."
            ),
            Curves(
                SIZES, entropies, "size d of queries and keys", "bits", log_x=True, caption="Entropy of the weights"
            ),
            Table(
                ("d", "spread of q · k", "entropy", "entropy, / √d", "slope", "slope, / √d"),
                tuple(
                    (
                        f"{SIZES[index]}",
                        f"{spreads[index]:.1f}",
                        f"{plain[index]:.2f}",
                        f"{scaled[index]:.2f}",
                        number(slopes["q · k"][index]),
                        number(slopes["q · k / √d"][index]),
                    )
                    for index in picked
                ),
                caption="What the division changes",
            ),
            Text(
                f"Without the division, {plain[-1]:.2f} bits are left at d = {SIZES[-1]}: attention has become a"
                " choice of one key. Worse, the softmax is flat there. The slope of the weights with respect to their"
                f" own scores, Σ a (1 - a), falls from {number(slopes['q · k'][0])} to"
                f" {number(slopes['q · k'][-1])}, and with it all that training can learn. Divided by √d, scores have"
                f" the same spread at every size, and the entropy stays between {min(scaled):.2f} and"
                f" {max(scaled):.2f} bits."
            ),
        ),
        paper="Vaswani 2017, Attention Is All You Need, section 3.2.1 and its footnote 4",
    )


def weights_of(score: Score, query: Tensor, key: Tensor) -> Tensor:
    output = attend(query, key, score=score, need_weights=True)
    assert output.weights is not None
    return output.weights


def entropy(weights: Tensor) -> float:
    """-Σ a log2 a over the keys, in bits; the mean of all queries."""
    return float(-torch.special.xlogy(weights, weights).sum(-1).mean() / math.log(2))


def slope(weights: Tensor) -> float:
    """Σ a (1 - a) over the keys: the trace of the softmax's Jacobian; the mean of all queries."""
    return float((weights * (1 - weights)).sum(-1).mean())
