"""Attention by hand, by hand once more."""

import math

import pytest

from saccade.show import Bars, Table, make_lesson
from tests.show.blocks import blocks, column, prose


def test_the_steps_are_those_of_the_formula() -> None:
    shown = make_lesson("worked-example")
    (steps,) = blocks(shown, Table)
    assert [column(steps, word)[:3] for word in ("Thinking", "Machines")] == [
        ["112", "14", "0.88"],
        ["96", "12", "0.12"],
    ]
    first = 1 / (1 + math.exp(12 - 14))
    (bars,) = blocks(shown, Bars)
    assert bars.values == pytest.approx([first, 1 - first])
    assert f"({2 * first:.2f}, {8 * (1 - first):.2f}, 4.00)" in prose(shown)


def test_without_the_division_it_would_be_a_choice() -> None:
    assert f"1 and {1 / (1 + math.exp(16)):.1e}".replace("e-0", "e-") in prose(make_lesson("worked-example"))
