"""Kinds of characters of a text, by what one would have to know to foresee them."""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.bool_]
_NEARBY = 128  # characters: a word that stood within so many before is one that can be copied


def kinds_of(text: str) -> dict[str, Places]:
    """For each kind, which characters of the text are of it; one may be of several.

    first letter        of a word, after a space or at the start of a line
    second letter       of a word
    later letters       from a word's third on, of words of three letters and more
    of a word nearby    from a word's second letter on, where the same word stood within the 128 characters before
    of a new word       the same, where it did not
    name of a speaker   in a line that ends with a colon after an empty line, from its second letter on
    end of a word       what follows the last letter: a space, a comma, a line's end
    closing mark        quotes and brackets that close; not an apostrophe
    line's end          the line break
    """
    names = _spans(text, re.finditer(r"(?:\A|(?<=\n\n))[A-Z][A-Za-z ]*(?=:\n)", text), skip=1)
    nearby = _nearby_words(text)
    letters = {count: _spans(text, re.finditer(r"[^\W\d_]+", text), skip=count) for count in (0, 1, 2)}
    ends = np.zeros(len(text), dtype=bool)
    ends[[found.end() for found in re.finditer(r"[^\W\d_]+", text) if found.end() < len(text)]] = True
    return {
        "first letter": letters[0] & ~letters[1],
        "second letter": letters[1] & ~letters[2],
        "later letters": letters[2],
        "of a word nearby": nearby,
        "of a new word": letters[1] & ~nearby,
        "name of a speaker": names,
        "end of a word": ends,
        "closing mark": _spans(text, re.finditer(r"(?<=\w[.,;!?])['\"”’]|[)\]”]", text)),
        "line's end": _spans(text, re.finditer(r"\n", text)),
    }


def _spans(text: str, found: Iterator[re.Match[str]], *, skip: int = 0) -> Places:
    """The characters of what was found, but for the first few of each."""
    places = np.zeros(len(text), dtype=bool)
    for match in found:
        places[match.start() + skip : match.end()] = True
    return places


def _nearby_words(text: str) -> Places:
    places, last = np.zeros(len(text), dtype=bool), dict[str, int]()
    for match in re.finditer(r"[^\W\d_]+", text):
        word = match[0]
        if match.start() - last.get(word, -_NEARBY - 1) <= _NEARBY:
            places[match.start() + 1 : match.end()] = True
        last[word] = match.start()
    return places
