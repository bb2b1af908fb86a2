"""Perplexity and bits, from sums: cases with known answers, and each figure computed another way."""

import math
import random

import pytest

from saccade.metrics import score_text


def test_a_model_that_guesses_has_the_size_of_its_vocabulary_as_perplexity():
    text = "ein Häuschen"  # 12 letters, 13 bytes
    found = score_text(-13 * math.log(65), tokens=13, characters=len(text), utf8_bytes=len(text.encode()))
    assert found.perplexity == pytest.approx(65)
    assert found.nats_per_token == pytest.approx(math.log(65))
    assert found.bits_per_character == pytest.approx(13 * math.log2(65) / 12)
    assert found.bits_per_byte == pytest.approx(13 * math.log2(65) / 13)


def test_a_fair_coin_costs_a_bit_for_each_letter():
    assert score_text(8 * math.log(0.5), tokens=8, characters=8, utf8_bytes=16) == pytest.approx(
        (2, math.log(2), 1, 0.5)
    )


@pytest.mark.parametrize("seed", range(3))
def test_from_the_probability_of_each_token(seed: int):
    rng = random.Random(seed)
    chances = [rng.uniform(0.001, 1) for _ in range(101)]
    found = score_text(sum(map(math.log, chances)), tokens=101, characters=211, utf8_bytes=307)
    assert found.perplexity == pytest.approx(math.prod(chances) ** (-1 / 101))  # the geometric mean of 1 / P
    assert 2 ** (-found.bits_per_character * 211) == pytest.approx(math.prod(chances))
    assert 2 ** (-found.bits_per_byte * 307) == pytest.approx(math.prod(chances))
    assert math.log(found.perplexity) == pytest.approx(found.nats_per_token)


def test_certainty_costs_nothing_and_impossibility_everything():
    assert str(score_text(0.0, tokens=3, characters=3, utf8_bytes=3)[1:]) == "(0.0, 0.0, 0.0)"  # and not -0.0
    assert score_text(0.0, tokens=3, characters=3, utf8_bytes=3).perplexity == 1
    assert set(score_text(-math.inf, tokens=3, characters=3, utf8_bytes=3)) == {math.inf}
    assert score_text(-1000.0, tokens=1, characters=1, utf8_bytes=1).perplexity == math.inf  # more than a float can be


@pytest.mark.parametrize("name", ["tokens", "characters", "utf8_bytes"])
def test_counts_of_nothing_are_refused(name: str):
    counts = {"tokens": 1, "characters": 1, "utf8_bytes": 1, name: 0}
    with pytest.raises(ValueError, match=f"{name}: found 0, wanted at least 1"):
        score_text(-1.0, **counts)


@pytest.mark.parametrize("total", [0.5, math.nan, math.inf])
def test_what_is_no_log_probability_is_refused(total: float):
    with pytest.raises(ValueError, match="log_probability: found"):
        score_text(total, tokens=1, characters=1, utf8_bytes=1)
