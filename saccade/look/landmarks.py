"""Places in a text that one may look back to from each of its tokens: the word's start, the bracket's, the line's."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.look.maps import as_labels

Places = NDArray[np.int64]  # [tokens]: the token that is looked for from each, -1 where there is none

LANDMARKS = ("word-start", "word-before", "line-end", "bracket")
NOWHERE = -1
_OPENS = {"(": ")", "[": "]", "{": "}", "«": "»", "“": "”"}
_CLOSES = frozenset(_OPENS.values())
_QUOTE = '"'  # opens, and closes; a single quote is an apostrophe as often, and counts as neither


def find_landmarks(tokens: Sequence[str]) -> Mapping[str, Places]:
    """By name, where each token of a text would find what it looks back for, which is always a token before it.

    The tokens are text: one behind the other, they are what was read. A token stands for its last letter, and one that
    has none, such as a start or the second byte of a letter, for the letter before it.

        word-start   within a word: the token that its first letter is in
        word-before  within a word: the token that the last letter of the word before is in
        line-end     the last token with a line break
        bracket      the bracket or double quote that is open, the innermost: up to the one that closes it, and from
                     that one too. One that is never closed is none, nor is a quote that is still open at an empty line

    A word is letters and digits, with an apostrophe or a hyphen between them.
    """
    text = "".join(as_labels(tokens, "tokens"))
    if not text:
        raise InputError("tokens: found no letter in them, wanted a text")
    lengths = [len(token) for token in tokens]
    token_of = np.repeat(np.arange(len(tokens)), lengths)
    last = np.maximum(np.cumsum(lengths) - 1, 0)
    starts, before = _words(text)
    found = {
        "word-start": _tokens(starts[last], token_of),
        "word-before": _tokens(before[last], token_of),
        "line-end": _tokens(_line_ends(text)[last], token_of),
        "bracket": _tokens(_brackets(text)[last], token_of),
    }
    return {name: np.where(places < np.arange(len(tokens)), places, NOWHERE) for name, places in found.items()}


def behind_a_start(landmarks: Mapping[str, Places], first: int, end: int) -> Mapping[str, Places]:
    """The same for the tokens from `first` to `end`, read behind a start, which takes the place of all before them."""
    found: dict[str, Places] = {}
    for name, places in landmarks.items():
        here = places[first:end]
        found[name] = np.concatenate([[NOWHERE], np.where(here < first, NOWHERE, here - first + 1)])
    return found


def _tokens(letters: Places, token_of: Places) -> Places:
    """Which tokens these letters are in."""
    return np.where(letters >= 0, token_of[np.maximum(letters, 0)], NOWHERE)


def _words(text: str) -> tuple[Places, Places]:
    """For each letter of a word, where the word begins, and where the word before it ends."""
    starts, before = np.full(len(text), NOWHERE), np.full(len(text), NOWHERE)
    start = end = end_before = NOWHERE
    for at, is_part in enumerate(_in_word(text)):
        if not is_part:
            start = NOWHERE
            continue
        if start == NOWHERE:
            start, end_before = at, end
        starts[at], before[at] = start, end_before
        end = at
    return starts, before


def _in_word(text: str) -> Iterator[bool]:
    """Whether each letter is one of a word."""
    for at, letter in enumerate(text):
        joins = letter in "'’-" and 0 < at < len(text) - 1
        yield letter.isalnum() or (joins and text[at - 1].isalnum() and text[at + 1].isalnum())


def _line_ends(text: str) -> Places:
    """For each letter, where the last line break before it is."""
    breaks = np.array([at if letter == "\n" else NOWHERE for at, letter in enumerate(text)])
    return np.concatenate([[NOWHERE], np.maximum.accumulate(breaks)[:-1]])


def _brackets(text: str) -> Places:
    """For each letter from behind a bracket to the one that closes it, where the innermost of these is."""
    found = np.full(len(text), NOWHERE)
    opened: list[int] = []
    for start, end in sorted(_pairs(text, opened)):  # the innermost come last, and stay
        found[start + 1 : end + 1] = start
    return found


def _pairs(text: str, opened: list[int]) -> Iterator[tuple[int, int]]:
    """Where brackets open and close; `opened` holds those that may still be closed, the innermost last."""
    for at, letter in enumerate(text):
        if text[at - 1 : at + 1] == "\n\n":
            opened[:] = [start for start in opened if text[start] != _QUOTE]
        if letter == _QUOTE and any(text[start] == _QUOTE for start in opened):
            while text[opened[-1]] != _QUOTE:
                opened.pop()  # a bracket that the quote ends before it is closed
            yield opened.pop(), at
        elif letter in _OPENS or letter == _QUOTE:
            opened.append(at)
        elif letter in _CLOSES and opened and _OPENS.get(text[opened[-1]]) == letter:
            yield opened.pop(), at
