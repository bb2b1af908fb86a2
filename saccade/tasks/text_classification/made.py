"""Made reviews with exact labels, for a first try: the same words in another order may mean the opposite."""

import random

from saccade.tasks.text_classification.labelled import LabelledText

LABELS = ("negative", "positive")
_THINGS = ("soup", "waiter", "music", "room", "view", "coffee", "service", "film", "ending", "story")
_GOOD = ("good", "great", "lovely", "friendly", "pleasant", "wonderful", "warm", "charming")
_BAD = ("bad", "awful", "dull", "rude", "cold", "dreadful", "boring", "sad")
_PLAIN = ("", "very", "really", "quite", "as always")
_TURNED = ("not", "never", "hardly", "anything but")
_BEGINNINGS = ("", "", "honestly", "they say that", "last week", "I think that")
_TURNED_SHARE = 0.4


def make_reviews(count: int, *, seed: int | str) -> list[LabelledText]:
    """Such as `the soup was not good but the waiter was very friendly`: positive, for what follows `but` counts.

    A word such as `not` turns the one after it into its opposite.
    """
    return [_review(random.Random(f"reviews {seed} {number}")) for number in range(count)]


def _review(chance: random.Random) -> LabelledText:
    label = chance.choice(LABELS)
    first, second = chance.sample(_THINGS, 2)
    parts = [chance.choice(_BEGINNINGS)]
    joined = chance.choice(("", "and", "but"))
    if joined:
        before = label if joined == "and" else LABELS[1 - LABELS.index(label)]
        parts += [_clause(first, before, chance), joined]
    parts.append(_clause(second, label, chance))
    return LabelledText(" ".join(filter(None, parts)), label)


def _clause(thing: str, label: str, chance: random.Random) -> str:
    """`the soup was not bad`, of which the label is what it says in the end."""
    turned = chance.random() < _TURNED_SHARE
    words = _GOOD if (label == "positive") != turned else _BAD
    before = chance.choice(_TURNED if turned else _PLAIN)
    return " ".join(filter(None, ("the", thing, "was", before, chance.choice(words))))
