"""Scores of captions against several references each: BLEU-1 to 4, ROUGE-L and CIDEr, as the literature gives them.

All take captions as lists of words: how they are cut is said in one place, `caption_words`.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from saccade.metrics._checks import expect_lists
from saccade.metrics.overlap import Words, lcs_length, ngrams

_ORDERS = 4  # n-grams of 1 to 4 words
_BETA = 1.2  # of ROUGE-L: how much more recall counts than precision
_SIGMA = 6.0  # of CIDEr: how many words of difference in length are forgiven


def caption_words(text: str) -> list[str]:
    """The words of a caption as it is scored: lower case, without punctuation; `don't` is one word, `t-shirt` two."""
    return re.findall(r"\w+(?:['’]\w+)*", text.lower())


def score_captions(captions: Sequence[Words], references: Sequence[Sequence[Words]]) -> dict[str, float]:
    """`bleu1` to `bleu4`, `rouge_l`, `cider`, and `exact_match`: how many are one of their references; in percent."""
    words = "words; caption_words(text) cuts them"
    expect_lists("captions", captions, of=words)
    expect_lists("references", references, of=f"references, each a list of {words}")
    for number, others in enumerate(references, start=1):
        expect_lists(f"references, number {number}", others, of=words)
    if len(captions) != len(references) or not captions or not all(references):
        raise ValueError("wanted at least one caption, and at least one reference for each of them")
    figures = {f"bleu{order}": value for order, value in enumerate(bleu(captions, references), start=1)}
    exact = sum(caption in others for caption, others in zip(captions, references, strict=True)) / len(captions)
    figures |= {"rouge_l": rouge_l(captions, references), "cider": cider(captions, references)}
    return figures | {"exact_match": 100 * exact}


def bleu(captions: Sequence[Words], references: Sequence[Sequence[Words]]) -> list[float]:
    """BLEU-1 to BLEU-4 of a corpus (Papineni 2002): BP Π_n p_n^(1/N), the length of the nearest reference for BP.

    Nothing is smoothed: where no n-gram of some length is right in the whole corpus, p_n and so BLEU-N for N ≥ n are 0.
    pycocoevalcap, whose figures are the same elsewhere, adds 1e-15 to the n-grams that are right and 1e-9 to all. That
    leaves something: with all shorter n-grams right, BLEU-4 of 0.0056 % for 100 wrong 4-grams, of 3.2 % for none.
    """
    right, found = [0] * _ORDERS, [0] * _ORDERS
    length, wanted = 0, 0
    for caption, others in zip(captions, references, strict=True):
        length += len(caption)
        wanted += min((abs(len(other) - len(caption)), len(other)) for other in others)[1]
        for order in range(1, _ORDERS + 1):
            most: Counter[Words] = Counter()
            for other in others:
                most |= ngrams(other, order)
            mine = ngrams(caption, order)
            right[order - 1] += (mine & most).total()
            found[order - 1] += mine.total()
    brevity = min(0.0, 1 - wanted / length) if length else -math.inf
    logs = [math.log(hits / all_) if hits else -math.inf for hits, all_ in zip(right, found, strict=True)]
    return [100 * math.exp(brevity + sum(logs[:order]) / order) for order in range(1, _ORDERS + 1)]


def rouge_l(captions: Sequence[Words], references: Sequence[Sequence[Words]]) -> float:
    """ROUGE-L (Lin 2004): F = (1 + β²) P R / (R + β² P) of the longest common subsequence, β = 1.2; the mean.

    With several references, the best precision and the best recall count.
    """
    total = 0.0
    for caption, others in zip(captions, references, strict=True):
        common = [lcs_length(caption, other) for other in others]
        precision = max(common) / len(caption) if caption else 0.0
        recall = max(length / len(other) if other else 0.0 for length, other in zip(common, others, strict=True))
        if precision and recall:
            total += (1 + _BETA**2) * precision * recall / (recall + _BETA**2 * precision)
    return 100 * total / len(captions)


def cider(captions: Sequence[Words], references: Sequence[Sequence[Words]]) -> float:
    """CIDEr-D (Vedantam 2015), which is what tables call CIDEr: how much that is particular to its image is said.

    For each n, a caption c and a reference r are vectors of counts times the log of how rare an n-gram is among the
    references of all images. CIDEr_n = mean over r of exp(-(|c| - |r|)² / 2σ²) Σ min(c, r) r / (|c| |r|), σ = 6. The
    mean over n, times 10, is the published figure; in percent here, so that 100 is a published 1.0.
    """
    rarities: list[dict[Words, float]] = []
    for order in range(1, _ORDERS + 1):
        images_with: Counter[Words] = Counter()
        for others in references:
            images_with.update({gram for other in others for gram in ngrams(other, order)})
        rarities.append({gram: math.log(len(references) / count) for gram, count in images_with.items()})
    never_seen = math.log(len(references))
    total = 0.0
    for caption, others in zip(captions, references, strict=True):
        for order, rarity in enumerate(rarities, start=1):
            mine = {gram: count * rarity.get(gram, never_seen) for gram, count in ngrams(caption, order).items()}
            for other in others:
                theirs = {gram: count * rarity[gram] for gram, count in ngrams(other, order).items()}
                shared = sum(min(mine[gram], value) * value for gram, value in theirs.items() if gram in mine)
                size = _norm(mine) * _norm(theirs)
                length_factor = math.exp(-((len(caption) - len(other)) ** 2) / (2 * _SIGMA**2))
                total += length_factor * shared / size / len(others) if size else 0.0
    return 100 * 10 * total / _ORDERS / len(captions)


def _norm(vector: dict[Words, float]) -> float:
    return math.sqrt(sum(value * value for value in vector.values()))
