"""Where a text has its landmarks, from each of its tokens."""

import random
import re

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.look import behind_a_start, find_landmarks


def picture(text: str, name: str) -> str:
    """For each letter of a text the one that is looked for from it: its index as 0 to 9 and A to Z, or a dot."""
    places = find_landmarks(list(text))[name]
    return "".join("." if place < 0 else "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place] for place in places)


def test_by_letters() -> None:
    text = "it's a (red) cat-flap."
    assert picture(text, "word-start") == ".000.....88...DDDDDDD."
    assert picture(text, "word-before") == ".....3..555..AAAAAAAA."
    assert picture("ab\nc\n\nd", "line-end") == "...2245"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a (b) c", "...22.."),
        ('f(a[1], ")") + (x] "b', "..1133111881........."),  # within a quote, a bracket may stand alone
        ('"a (b" c) "d\n\ne" [f]', ".00000............HH"),  # nor does a quote go on behind an empty line
        ("«a “b” {c}»", ".0003300770"),
        ("it's 'so'", "........."),
    ],
)
def test_brackets_and_quotes(text: str, wanted: str) -> None:
    assert picture(text, "bracket") == wanted


def test_by_tokens() -> None:
    """A token stands for its last letter, one without a letter for the letter before; none looks for itself."""
    found = find_landmarks(["", "He", " sa", "id", ":", "\n", "[", "it", "", "]"])
    assert {name: places.tolist() for name, places in found.items()} == {
        "word-start": [-1, -1, -1, 2, -1, -1, -1, -1, 7, -1],
        "word-before": [-1, -1, 1, 1, -1, -1, -1, 3, 3, -1],
        "line-end": [-1, -1, -1, -1, -1, -1, 5, 5, 5, 5],
        "bracket": [-1, -1, -1, -1, -1, -1, -1, 6, 6, 6],
    }


def test_words_and_lines_as_regular_expressions_find_them() -> None:
    rng = random.Random(5)
    for _ in range(30):
        text = "".join(rng.choices("ab1 '-\n.", k=43))
        found = find_landmarks(list(text))
        wanted = {name: [-1] * len(text) for name in ("word-start", "word-before", "line-end")}
        before = -1
        for word in re.finditer(r"[a-z0-9]+(?:['-][a-z0-9]+)*", text):
            for at in range(*word.span()):
                wanted["word-start"][at] = word.start() if at > word.start() else -1
                wanted["word-before"][at] = before
            before = word.end() - 1
        wanted["line-end"] = [text.rfind("\n", 0, at) for at in range(len(text))]
        assert {name: found[name].tolist() for name in wanted} == wanted


def test_a_part_behind_a_start_finds_nothing_before_it() -> None:
    landmarks = find_landmarks(list("(ab cde)"))
    part = behind_a_start(landmarks, 2, 7)  # <s> b _ c d e
    assert part["word-start"].tolist() == [-1, -1, -1, -1, 3, 3]
    assert part["bracket"].tolist() == [-1] * 6
    whole = behind_a_start(landmarks, 0, 8)
    assert whole["bracket"].tolist() == [-1, -1, *[1] * 7]
    assert (whole["line-end"] == -1).all()


def test_what_is_no_text() -> None:
    with pytest.raises(InputError, match="tokens: found no letter"):
        find_landmarks(["", ""])
    with pytest.raises(InputError, match="tokens: found one text"):
        find_landmarks("abc")
    assert all(isinstance(places, np.ndarray) for places in find_landmarks(["a"]).values())
