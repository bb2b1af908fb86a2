"""What two lists of words have in common: their n-grams, and the longest sequence that is in both."""

from collections import Counter
from collections.abc import Sequence

Words = Sequence[str]


def ngrams(words: Words, order: int) -> Counter[Words]:
    """How often each n-gram of so many words is in the list."""
    return Counter(tuple(words[first : first + order]) for first in range(len(words) - order + 1))


def lcs_length(one: Words, other: Words) -> int:
    """How many words the longest common subsequence has; other words may stand between them."""
    lengths = [0] * (len(other) + 1)
    for word in one:
        diagonal = 0
        for index, theirs in enumerate(other, start=1):
            above = lengths[index]
            lengths[index] = diagonal + 1 if word == theirs else max(above, lengths[index - 1])
            diagonal = above
    return lengths[-1]


def f1(right: int, found: int, wanted: int) -> float:
    """F1 = 2 P R / (P + R) with P = right / found and R = right / wanted; 0 where nothing is right."""
    if right == 0:
        return 0.0
    precision, recall = right / found, right / wanted
    return 2 * precision * recall / (precision + recall)
