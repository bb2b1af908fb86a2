"""What models learn from: pairs of sentences, and corpora that the package makes itself."""

from saccade.data.dates import DATE_LOCALES, Dates
from saccade.data.made import Corpus, InputError, expect_free, split_corpus, write_splits
from saccade.data.numbers import NUMBER_LANGUAGES, Numbers
from saccade.data.pairs import Pair, write_pairs

__all__ = [
    "DATE_LOCALES",
    "NUMBER_LANGUAGES",
    "Corpus",
    "Dates",
    "InputError",
    "Numbers",
    "Pair",
    "expect_free",
    "split_corpus",
    "write_pairs",
    "write_splits",
]
