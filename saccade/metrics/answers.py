"""How good answers are that are a few words of text: exact match and F1, as the script of SQuAD 1.1 counts them.

Rajpurkar 2016. What is no difference: capitals, ASCII punctuation (taken out, so `U.S.` is `US` and `twenty-one` is
`twentyone`), the words a, an and the, and white space.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

from saccade.metrics._checks import expect_lists, expect_texts
from saccade.metrics.overlap import f1

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def answer_words(text: str) -> list[str]:
    """The words of an answer as it is scored."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def score_answers(answers: Sequence[str], golds: Sequence[Sequence[str]]) -> dict[str, float]:
    """`exact_match` and `f1` in percent: the mean over the answers, of each the best of those that people gave.

    F1 = 2 P R / (P + R) of the words, in any order, each as often as both have it. Where no word is left of an answer,
    its F1 is 0, even if none is left of the right one and they match exactly: so has the script of version 1.1.
    """
    expect_texts("answers", answers)
    expect_lists("golds", golds, of="the texts that are right; write [[text]]")
    if len(answers) != len(golds) or not answers or not all(golds):
        raise ValueError("wanted at least one answer, and at least one right one for each of them")
    exact, overlap = 0, 0.0
    for answer, others in zip(answers, golds, strict=True):
        mine = answer_words(answer)
        theirs = [answer_words(other) for other in others]
        exact += mine in theirs
        overlap += max(_word_f1(mine, other) for other in theirs)
    return {"exact_match": 100 * exact / len(answers), "f1": 100 * overlap / len(answers)}


def _word_f1(found: list[str], wanted: list[str]) -> float:
    return f1((Counter(found) & Counter(wanted)).total(), len(found), len(wanted))
