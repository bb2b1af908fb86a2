"""Noise over plain text: as much as is asked for, of lengths as Poisson has them, and nothing else is changed."""

import math
import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from saccade.text import MASK, NoiseSettings, damage
from saccade.text.noise import draw_poisson, draw_spans, mask_spans, split_sentences

shares = st.floats(0, 1)
word_counts = st.integers(0, 60)
seeds = st.integers(0, 1000)


@pytest.mark.parametrize("mean", [1.0, 3.0, 11.5])
def test_lengths_are_as_poisson_has_them(mean: float) -> None:
    """P(k) = mean^k · e^-mean / k!; each share of 20,000 draws within five standard deviations of it."""
    rng, draws = random.Random(7), 20_000
    counts = Counter(draw_poisson(mean, rng) for _ in range(draws))
    for length in range(25):
        p = mean**length * math.exp(-mean) / math.factorial(length)
        assert abs(counts[length] / draws - p) < 5 * math.sqrt(p * (1 - p) / draws) + 1 / draws


@pytest.mark.parametrize("share", [0.15, 0.3, 0.5])
def test_the_share_holds_on_average_for_short_texts_as_well(share: float) -> None:
    rng, texts, words = random.Random(3), 20_000, 7
    masked = sum(sum(draw_spans(words, share=share, mean=3, rng=rng)) for _ in range(texts))
    part = share * words % 1  # what is rounded by chance
    assert abs(masked / texts - share * words) < 5 * math.sqrt(part * (1 - part) / texts)


def test_the_spans_of_a_long_text_are_of_the_mean_length() -> None:
    spans = draw_spans(100_003, share=0.3, mean=3, rng=random.Random(5))
    assert sum(spans) in (30_000, 30_001)
    assert abs(sum(spans) / len(spans) - 3) < 5 * math.sqrt(3 / len(spans))
    assert abs(spans.count(0) / len(spans) - math.exp(-3)) < 5 * math.sqrt(math.exp(-3) / len(spans))


@given(word_counts, shares, seeds)
def test_spans_come_to_the_share_and_never_to_more_than_there_is(words: int, share: float, seed: int) -> None:
    masked = sum(draw_spans(words, share=share, mean=2, rng=random.Random(seed)))
    assert masked in (math.floor(words * share), math.ceil(words * share))


@given(word_counts, shares, seeds)
def test_with_what_the_masks_stand_for_a_text_is_whole_again(count: int, share: float, seed: int) -> None:
    rng = random.Random(seed)
    words = [str(number) for number in range(count)]
    spans = draw_spans(count, share=share, mean=3, rng=rng)
    damaged = mask_spans(words, list(spans), rng)
    assert damaged.count(MASK) == len(spans)
    kept = [word for word in damaged if word != MASK]
    assert kept == sorted(kept, key=int)
    assert len(kept) == count - sum(spans)
    # A mask is any number of words; read so, the damaged text fits the one that it was.
    pattern = "".join("(?:\\d+ )*" if word == MASK else f"{word} " for word in damaged)
    assert re.fullmatch(pattern, "".join(f"{word} " for word in words))


def test_all_places_are_equally_likely() -> None:
    rng = random.Random(11)
    found = Counter(" ".join(mask_spans(list("abcd"), [2], rng)) for _ in range(3000))
    assert found.keys() == {"<mask> c d", "a <mask> d", "a b <mask>"}
    assert all(abs(count - 1000) < 5 * math.sqrt(3000 * 2 / 9) for count in found.values())


def test_sentences_end_with_their_signs() -> None:
    text = 'A dog runs. "Is it black?" It is! 3.5 metres and no end'
    assert [" ".join(words) for words in split_sentences(text)] == [
        "A dog runs.",
        '"Is it black?"',
        "It is!",
        "3.5 metres and no end",
    ]
    assert split_sentences("  ") == []


def test_permuted_sentences_are_a_permutation_and_all_come() -> None:
    sentences = ["One dog.", "Two cats!", "Any birds?"]
    noise = NoiseSettings(mask_share=0)
    rng = random.Random(2)
    found = Counter(damage(" ".join(sentences), noise, rng) for _ in range(1200))
    assert len(found) == 6
    for text in found:
        assert sorted(" ".join(words) for words in split_sentences(text)) == sorted(sentences)
    assert all(abs(count - 200) < 5 * math.sqrt(1200 * 5 / 36) for count in found.values())
    still = NoiseSettings(mask_share=0, permute_sentences=False)
    assert damage(" ".join(sentences), still, rng) == " ".join(sentences)


def test_the_drawn_example_can_come_about() -> None:
    """What stands in the docstring of the module."""
    found = {
        damage("A dog runs. It is black and small.", NoiseSettings(mask_share=0.5, span_length=2), random.Random(seed))
        for seed in range(3000)
    }
    assert "It is <mask> small. A <mask>" in found


@pytest.mark.parametrize("setting", [{"mask_share": 1.1}, {"mask_share": -0.1}, {"span_length": 0.5}, {"masks": 3}])
def test_settings_out_of_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        NoiseSettings.model_validate(setting)
