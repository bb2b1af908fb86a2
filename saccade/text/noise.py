"""Noise over plain text, which a model learns to undo: BART's text infilling and sentence permutation (Lewis 2020).

    as it was              A dog runs. It is black and small.
    sentences permuted     It is black and small. A dog runs.
    spans masked           It is <mask> small. A <mask>

A word here is what stands between spaces. The lengths of the spans come from Poisson's distribution, and **one**
`<mask>` stands for a span, so that a model has to find out how much is missing. One of length 0 stands for nothing.
"""

import math
import random
from typing import Annotated

from pydantic import Field

from saccade.base.settings import Settings
from saccade.text.overlong import CLOSING, SENTENCE_ENDS
from saccade.text.vocabularies.vocabulary import MASK


class NoiseSettings(Settings):
    """How a text is damaged."""

    mask_share: Annotated[float, Field(ge=0, le=1)] = 0.3  # of the words
    span_length: Annotated[float, Field(ge=1, le=50)] = 3.0  # words that a mask stands for, on average
    permute_sentences: bool = True  # of a text that has several


def damage(text: str, noise: NoiseSettings, rng: random.Random) -> str:
    """The text with its sentences in another order, and with masks in place of spans of words."""
    sentences = split_sentences(text)
    if noise.permute_sentences:
        rng.shuffle(sentences)
    words = [word for sentence in sentences for word in sentence]
    spans = draw_spans(len(words), share=noise.mask_share, mean=noise.span_length, rng=rng)
    return " ".join(mask_spans(words, spans, rng))


def split_sentences(text: str) -> list[list[str]]:
    """The words of each sentence; one ends with a word that ends with a full stop, or a sign like it."""
    sentences: list[list[str]] = [[]]
    for word in text.split():
        sentences[-1].append(word)
        if word.rstrip(CLOSING)[-1:] in SENTENCE_ENDS:
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def draw_spans(words: int, *, share: float, mean: float, rng: random.Random) -> list[int]:
    """Lengths of spans that come to `share` of the words: the last is cut short, so that no more are masked.

    Where the share is no whole number of words, it is rounded up or down by chance, so that it holds on average.
    """
    left = int(words * share + rng.random())
    spans: list[int] = []
    while left:
        spans.append(min(draw_poisson(mean, rng), left))
        left -= spans[-1]
    return spans


def mask_spans(words: list[str], spans: list[int], rng: random.Random) -> list[str]:
    """The words with one `<mask>` for each span; all places for the spans are equally likely, and none overlap."""
    kept = len(words) - sum(spans)
    parts: list[int | None] = [*spans, *[None] * kept]  # None is a word that is kept
    rng.shuffle(parts)
    left = iter(words)
    damaged: list[str] = []
    for span in parts:
        damaged.append(next(left) if span is None else MASK)
        for _ in range(span or 0):
            next(left)
    return damaged


def draw_poisson(mean: float, rng: random.Random) -> int:
    """P(k) = mean^k · e^-mean / k!, by Knuth's method: how many uniforms can be multiplied before e^-mean is passed."""
    limit, product, count = math.exp(-mean), rng.random(), 0
    while product > limit:
        product *= rng.random()
        count += 1
    return count
