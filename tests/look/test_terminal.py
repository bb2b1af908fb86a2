"""Attention maps in plain characters."""

import numpy as np
import pytest
from rich.cells import cell_len
from rich.style import Style

from saccade.base.errors import InputError
from saccade.look import AttentionMap, draw, draw_text
from tests.look.test_maps import STRANGE

WEIGHTS = np.array([[0.0, 0.99, 0.3], [0.5, 0.1, 0.79]], dtype=np.float32)


def test_short_labels_stand_above() -> None:
    assert draw_text(WEIGHTS, ["a", "END"], ["x", "y", "z"]).splitlines() == [
        "     x  y  z",
        "  a  ·· ██ ░░",
        "END  ▒▒ ·· ▓▓",
    ]


def test_long_labels_are_written_downwards() -> None:
    assert draw_text(WEIGHTS[:1], ["a"], ["one", "of", "x"]).splitlines() == [
        "   o",
        "   n  o",
        "   e  f  x",
        "a  ·· ██ ░░",
    ]


@pytest.mark.parametrize("weights", [WEIGHTS.T, WEIGHTS * np.nan])
def test_what_cannot_be_drawn(weights: np.ndarray) -> None:
    with pytest.raises(ValueError, match="weights: found"):
        draw_text(weights, ["a", "b"], ["x", "y", "z"])


def test_in_colour_the_shade_and_the_digits_are_the_weight() -> None:
    seen = AttentionMap(["a", "END"], ["x", "y", "z"], WEIGHTS)
    text = draw(seen, colour=True)
    lines = text.plain.splitlines()
    assert lines[1:] == ["  a     99 30", "END  50 10 79"]
    shades = [span.style.bgcolor.triplet for span in text.spans if isinstance(span.style, Style) and span.style.bgcolor]
    light = [sum(shade) for shade in shades if shade is not None]
    assert len(light) == WEIGHTS.size
    order = np.argsort(WEIGHTS, axis=None)
    assert (np.diff(np.array(light)[order]) > 0).all()


def test_what_is_wider_than_the_terminal_comes_in_parts() -> None:
    words = [f"w{number}" for number in range(60)]
    weights = np.eye(60, dtype=np.float32)[:2]
    text = draw(AttentionMap(["first", "second"], words, weights), colour=False, width=80).plain
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.split("\n\n")) == 3
    cells = [cell for line in text.splitlines() if line.startswith(" first") for cell in line.split()[1:]]
    assert cells == ["██", *["··"] * 59]
    with pytest.raises(InputError, match="width: found 8, wanted at least 11"):
        draw(AttentionMap(["first", "second"], words, weights), width=8)


def test_labels_of_every_kind_stay_in_their_cells() -> None:
    """Wide letters, a space, a line break and a very long word."""
    rows = ["日本語", " ", "a\nb", "Donaudampfschifffahrtsgesellschaft"]
    text = draw(AttentionMap(rows, ["x", "y"], np.eye(4, 2)), colour=False).plain
    lines = text.splitlines()
    assert len(lines) == 5
    assert [line.rstrip()[-5:] for line in lines[1:]] == ["██ ··", "·· ██", "·· ··", "·· ··"]
    assert len({cell_len(line) for line in lines[1:]}) == 1
    assert "␣" in lines[2]
    assert "Donaudampfschif…" in lines[4]


def test_strange_characters_move_no_cursor_and_can_be_printed() -> None:
    text = draw(AttentionMap(STRANGE, STRANGE, np.eye(len(STRANGE))), colour=False).plain
    text.encode()
    assert all(letter.isprintable() for letter in text.replace("\n", ""))
