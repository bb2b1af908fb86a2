"""What a lesson is made of refuses what cannot be drawn."""

from collections.abc import Callable

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.show import Bars, Block, Curves, Matrix, Table, Text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Table(("a", "b"), (("1",),)), "row: found 1, wanted 2, as many as header has"),
        (lambda: Curves((1, 2), {"y": (1,)}, "x", "y"), "line 'y': found 1, wanted 2, as many as x has"),
        (lambda: Bars(("a",), (1, 2), "n"), "values: found 2, wanted 1, as many as labels has"),
        (lambda: Bars(("a", "b"), (1, -2), "n"), "values: found -2, wanted 0 or more"),
        (lambda: Matrix(np.ones(3), ("a",), ("b",) * 3), "weights: found 1 axes, wanted two"),
        (lambda: Matrix(np.ones((2, 3)), ("a",) * 3, ("b",) * 2), r"shape \[2, 3\], wanted .* 3 rows and 2 columns"),
    ],
)
def test_what_does_not_fit_together_is_refused(make: Callable[[], Block], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_paragraphs_are_parted_by_empty_lines() -> None:
    assert Text("\n  a\n  b\n\n  c  d\n").paragraphs == ["a b", "c d"]


def test_the_scale_of_shades() -> None:
    one, labels = np.array([[0.2, np.nan]]), (("r",), ("a", "b"))
    assert Matrix(one, *labels).scale == (0, 1)
    assert Matrix(4 * one, *labels, diverging=True).scale == (-1, 1)
    assert Matrix(-20 * one, *labels, diverging=True).scale == (-4, 4)
    assert Matrix(20 * one, *labels).scale == (0, 4)
