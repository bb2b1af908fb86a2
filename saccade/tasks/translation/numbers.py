"""Numbers in words, from one language to another: "forty-two" -> "zweiundvierzig"."""

import random

from num2words import num2words

from saccade.base.errors import InputError
from saccade.tasks.translation.made import Corpus
from saccade.text import Pair

# Those of num2words that were tried up to a thousand million: each number has words of its own.
# fmt: off
NUMBER_LANGUAGES = (
    "ca", "cs", "da", "de", "en", "es", "fi", "fr", "hu", "id", "it", "lt", "lv",
    "nl", "no", "pl", "pt", "ro", "ru", "sl", "sr", "sv", "tr", "uk", "vi",
)
# fmt: on


class Numbers(Corpus):
    """Whole numbers from 0 to `max_number`, as many short ones as long ones, by the rules of num2words."""

    def __init__(self, seed: int = 0, *, source: str = "en", target: str = "fr", max_number: int = 999_999) -> None:
        for name, language in (("source", source), ("target", target)):
            if language not in NUMBER_LANGUAGES:
                raise InputError(f"{name}: found {language!r}, wanted one of {', '.join(NUMBER_LANGUAGES)}")
        if not 0 < max_number < 10**9:
            raise InputError(f"max_number: found {max_number}, wanted 0 < max_number < 1000000000")
        self.seed = seed
        self.source = source
        self.target = target
        self.max_number = max_number

    def pair(self, index: int) -> Pair:
        rng = random.Random(f"numbers {self.seed} {index}")
        digits = rng.randint(1, len(str(self.max_number)))
        number = rng.randint(0 if digits == 1 else 10 ** (digits - 1), min(10**digits - 1, self.max_number))
        return Pair(in_words(number, self.source), in_words(number, self.target))


def in_words(number: int, language: str) -> str:
    """`number` as it is said, on one line."""
    return " ".join(num2words(number, lang=language).split())
