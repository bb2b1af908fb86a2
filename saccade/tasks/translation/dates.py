"""Dates as people write them, and what they mean: "le 9 novembre 2026" -> 2026-11-09.

The forms are those of Babel for each locale, and some that people use besides. Only forms that can be read in one way
are taken: with the month as a word, or with the year first. "09/11/2026" is two dates, depending on who reads it.
"""

import datetime as dt
import random
import re
from functools import cache

from babel import Locale
from babel.dates import format_date

from saccade.base.errors import InputError
from saccade.tasks.translation.made import Corpus
from saccade.text import Pair

# Croatian is not among them: its "listopada" is October, and Polish for November.
# fmt: off
DATE_LOCALES = (
    "bg", "ca", "cs", "da", "de", "el", "en_GB", "en_US", "es", "et", "fi", "fr", "hu", "id", "is", "it",
    "ja", "ko", "lt", "lv", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "tr", "uk", "vi", "zh",
)
# fmt: on

# What people write besides what Babel knows, as Babel's patterns; {ordinal} is the day as in 9th or 1er.
_HOME_MADE = {
    "en_US": ["MMM {ordinal}, y", "MMMM {ordinal}, y", "MMMM d y", "EEE, MMM d, y"],
    "en_GB": ["'the' {ordinal} 'of' MMMM y", "{ordinal} 'of' MMMM, y", "{ordinal} MMM y", "EEE d MMM y"],
    "de": ["d. MMM y", "'den' d. MMMM y", "EEE, d. MMM y"],
    "fr": ["'le' {ordinal} MMMM y", "{ordinal} MMMM y", "'le' EEEE {ordinal} MMMM y"],
    "es": ["'el' d 'de' MMMM 'de' y"],
    "it": ["'il' d MMMM y"],
    "sv": ["y-MM-dd", "'den' d MMMM y"],
}


class Dates(Corpus):
    """Dates from 1900 to 2099 in the given locales, with the ISO form as the answer."""

    def __init__(self, seed: int = 0, *, locales: tuple[str, ...] = DATE_LOCALES) -> None:
        unknown = [locale for locale in locales if locale not in DATE_LOCALES]
        if unknown or not locales:
            raise InputError(f"locales: found {', '.join(unknown) or 'none'}, wanted some of {', '.join(DATE_LOCALES)}")
        self.seed = seed
        self.locales = locales

    def pair(self, index: int) -> Pair:
        rng = random.Random(f"dates {self.seed} {index}")
        day = dt.date.fromordinal(rng.randint(_FIRST, _LAST))
        locale = rng.choice(self.locales)
        text = write_date(day, locale, rng.choice(date_patterns(locale)))
        return Pair(text.lower() if rng.random() < 0.2 else text, day.isoformat())


def date_links(pair: Pair) -> list[tuple[int, int]]:
    """Which characters of a date belong together, `(source, target)`: the digits that both sides write.

    The year is written in full in every form. A number besides it is the day; of two, the day is the one farther from
    the year. A zero that only the answer has, as in 09, and a month that is a word belong to no digit.
    """
    year, month, day = pair.target.split("-")
    start = pair.source.index(year)
    numbers = [match for match in re.finditer(r"[0-9]+", pair.source) if match.start() != start]
    numbers.sort(key=lambda match: -abs(match.start() - start))
    links = [(start + index, index) for index in range(len(year))]
    for ends_at, wanted, match in zip((10, 7), (day, month), numbers, strict=False):
        if int(match[0]) != int(wanted):
            raise ValueError(f"pair: found {match[0]} in {pair.source!r}, wanted {wanted}; not a date of this corpus")
        links += [(match.end() - back, ends_at - back) for back in range(1, len(match[0]) + 1)]
    return sorted(links)


_FIRST, _LAST = dt.date(1900, 1, 1).toordinal(), dt.date(2099, 12, 31).toordinal()


@cache
def date_patterns(locale: str) -> list[str]:
    """All patterns of a locale that can be read in one way only."""
    babel = [Locale.parse(locale).date_formats[size].pattern for size in ("full", "long", "medium")]
    return [pattern for pattern in dict.fromkeys([*babel, *_HOME_MADE.get(locale, [])]) if _one_reading(pattern)]


def _one_reading(pattern: str) -> bool:
    """The year in full, and the month as a word or year, month and day in this order."""
    fields = re.sub(r"'[^']*'", "", pattern)
    order = [fields.find(letter) for letter in "yMd"]
    return "yy" not in fields.replace("yyyy", "y") and ("MMM" in fields or order == sorted(order))


def write_date(day: dt.date, locale: str, pattern: str) -> str:
    """The date in one of `date_patterns`, with ordinary spaces."""
    pattern = pattern.replace("{ordinal}", f"'{_ordinal(day.day, locale)}'")
    text = format_date(day, pattern, locale=locale)
    return " ".join(text.split())  # Babel's narrow and fixed spaces are not on a keyboard


def _ordinal(day: int, locale: str) -> str:
    if locale == "fr":
        return "1er" if day == 1 else str(day)
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
