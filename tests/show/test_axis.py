"""Axes and numbers."""

import math

import pytest

from saccade.show._axis import axis_of
from saccade.show._numbers import holds_numbers, number
from saccade.show.lesson import Table


def test_ticks_are_round_and_few_and_within() -> None:
    for low, high in ((0, 1), (0.3, 17.2), (-3, 1000), (41.5, 42.5), (1, 50)):
        axis = axis_of([low, high], log=False)
        ticks = axis.ticks()
        assert 3 <= len(ticks) <= 7
        assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
        step = ticks[1] - ticks[0]
        assert f"{step:.0e}"[0] in "125"
    assert axis_of([1, 1000], log=True).ticks() == [1, 10, 100, 1000]
    assert len(axis_of([1e-22, 1e-2], log=True).ticks()) <= 6


def test_values_have_places_and_what_is_no_number_has_none() -> None:
    assert [axis_of([2, 6], log=False).place(x) for x in (2, 3, 6)] == [0, 0.25, 1]
    logarithmic = axis_of([1, 100, 0, math.nan], log=True)
    assert [logarithmic.place(x) for x in (1, 10, 100, 0, -1, math.inf)] == [0, 0.5, 1, None, None, None]


def test_a_whole_axis_begins_and_ends_at_round_numbers() -> None:
    axis = axis_of([0.19, 4.51], log=False, whole=True)
    assert (axis.low, axis.high) == (0, 5)
    axis = axis_of([3e-5, 0.2], log=True, whole=True)
    assert (axis.low, axis.high) == pytest.approx((1e-5, 1))
    assert axis_of([7, 7], log=False, whole=True).place(7) is not None
    assert axis_of([], log=False, whole=True).place(0.5) is not None
    for log in (False, True):
        flat = axis_of([5, 5], log=log)
        assert flat.low < flat.high


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.8808, "0.881"),
        (12, "12"),
        (-1, "-1"),
        (99.96, "100"),
        (1024, "1,024"),
        (3.14e-18, "3.1e-18"),
        (1e-7, "1e-7"),
        (2e6, "2e6"),
        (float("nan"), "nan"),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


def test_a_column_of_numbers_is_known() -> None:
    table = Table(("a", "b", "c"), (("1.5 %", "x", "1e-7"), ("2,000", "1", "refused"), ("-3", "y", "4")))
    assert [holds_numbers(table, index) for index in range(3)] == [True, False, True]
