"""Exact match and F1 beside SQuAD's own script, evaluate-v1.1.py.

It is no package, so its figures stand here: the best of its two scores over all right answers, for these 1,000 answers
summed up, and of the first ones one by one.
"""

import random

import pytest

from saccade.metrics import score_answers

WORDS = ["the", "The", "a", "An", "cat", "Cat.", "(cat)", "in-law", "inlaw", "U.S.", "us", "é", "!"]


def made_pairs() -> list[tuple[str, list[str]]]:
    rng = random.Random(11)

    def text() -> str:
        return rng.choice([" ", "  ", "\n", " - "]).join(rng.choices(WORDS, k=rng.randint(0, 4)))

    return [(text(), [text() for _ in range(rng.randint(1, 3))]) for _ in range(1000)]


EXACT_MATCH, F1 = 231, 237.86666666666662
FIRST_F1 = [
    0.28571428571428575,
    0,
    0.5,
    0,
    0.8,
    0,
    0,
    1.0,
    0.6666666666666666,
    0,
    0,
    0,
    0.6666666666666666,
    0,
    0,
    0,
    0,
    0,
    0.5,
    0,
    1.0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0.4,
    0.6666666666666666,
    0,
    0,
    1.0,
    0,
    0,
    0,
    0.5,
    0,
    0,
    0,
]


def test_a_thousand_answers() -> None:
    answers, golds = (list(column) for column in zip(*made_pairs(), strict=True))
    assert score_answers(answers, golds) == pytest.approx({"exact_match": EXACT_MATCH / 10, "f1": F1 / 10}, rel=1e-12)


def test_one_by_one() -> None:
    found = [score_answers([answer], [golds])["f1"] / 100 for answer, golds in made_pairs()[: len(FIRST_F1)]]
    assert found == pytest.approx(FIRST_F1, rel=1e-12)
