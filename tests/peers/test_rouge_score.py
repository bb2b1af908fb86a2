"""ROUGE-L beside rouge-score's, which is Google's own in Python."""

import random

import pytest
from rouge_score.rouge_scorer import RougeScorer

from saccade.metrics.captions import rouge_l

WORDS = ["a", "dog", "cat", "runs", "on", "the", "red", "ball"]
BETA = 1.2  # of ours; theirs has 1


@pytest.mark.parametrize("seed", range(53))
def test_the_longest_common_subsequence(seed: int) -> None:
    """Their precision and recall, put together with our β: words that come twice, and texts with nothing in common."""
    rng = random.Random(seed)
    caption, reference = (rng.choices(WORDS, k=rng.randint(1, 17)) for _ in range(2))
    theirs = RougeScorer(["rougeL"]).score(" ".join(reference), " ".join(caption))["rougeL"]
    below = theirs.recall + BETA**2 * theirs.precision
    wanted = (1 + BETA**2) * theirs.precision * theirs.recall / below if below else 0.0
    assert rouge_l([caption], [[reference]]) == pytest.approx(100 * wanted)
