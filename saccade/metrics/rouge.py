"""ROUGE of summaries (Lin 2004), as the package rouge-score counts it: F1 of words, of pairs of words, and in order.

Captions have a ROUGE-L of their own, in `saccade.metrics.captions`: other words, recall counts more, and precision and
recall may come from two references.
"""

import re
from collections.abc import Sequence

from saccade.metrics._checks import expect_lists, expect_texts
from saccade.metrics.overlap import Words, f1, lcs_length, ngrams
from saccade.metrics.stems import stem


def rouge_words(text: str, *, stemmed: bool = False) -> list[str]:
    """The words that count: lower case, made of a to z and 0 to 9 alone; whatever else there is parts them.

    With `stemmed`, those of more than three letters come without their endings. Only English has such words.
    """
    words = re.findall("[a-z0-9]+", text.lower())
    return [stem(word) if len(word) > 3 else word for word in words] if stemmed else words


def score_rouge(
    summaries: Sequence[str], references: Sequence[Sequence[str]], *, stemmed: bool = False
) -> dict[str, float]:
    """`rouge1`, `rouge2` and `rouge_l` in percent: the mean over the summaries, of each the best of its references.

    ROUGE-n is the F1 of n-grams, each as often as both have it; ROUGE-L is that of the longest common subsequence.
    """
    expect_texts("summaries", summaries)
    expect_lists("references", references, of="texts; write [[text]]")
    if len(summaries) != len(references) or not summaries or not all(references):
        raise ValueError("wanted at least one summary, and at least one reference for each of them")
    totals = {"rouge1": 0.0, "rouge2": 0.0, "rouge_l": 0.0}
    for summary, others in zip(summaries, references, strict=True):
        mine = rouge_words(summary, stemmed=stemmed)
        scores = [_scores(mine, rouge_words(other, stemmed=stemmed)) for other in others]
        for name in totals:
            totals[name] += max(score[name] for score in scores)
    return {name: 100 * total / len(summaries) for name, total in totals.items()}


def _scores(found: Words, wanted: Words) -> dict[str, float]:
    common = lcs_length(found, wanted)
    return {
        "rouge1": _ngram_f1(found, wanted, 1),
        "rouge2": _ngram_f1(found, wanted, 2),
        "rouge_l": f1(common, len(found), len(wanted)),
    }


def _ngram_f1(found: Words, wanted: Words, order: int) -> float:
    mine, theirs = ngrams(found, order), ngrams(wanted, order)
    return f1((mine & theirs).total(), mine.total(), theirs.total())
