"""Attention maps in plain characters."""

import numpy as np
import pytest

from saccade.look import draw_text

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
