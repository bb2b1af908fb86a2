"""Orders: the same way round, and how much of a hull is covered."""

import pytest

from saccade.metrics import covered_area, same_cycle

SQUARE = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (1.0, 1.0)]


@pytest.mark.parametrize(
    ("found", "same"),
    [
        ([0, 3, 1], True),
        ([3, 1, 0], True),
        ([1, 0, 3], True),
        ([0, 1, 3], False),
        ([0, 3], False),
        ([0, 3, 1, 2], False),
        ([0, 3, 2], False),
        ([], False),
    ],
)
def test_a_cycle_may_begin_anywhere(found: list[int], same: bool) -> None:  # noqa: FBT001
    assert same_cycle(found, [0, 3, 1]) == same


@pytest.mark.parametrize(
    ("found", "share"),
    [
        ([0, 1, 2, 3], 1.0),
        ([3, 2, 1, 0], 1.0),  # clockwise covers as much
        ([0, 1, 2], 0.5),
        ([0, 1, 4], 0.25),
        ([0, 2, 1, 3], 0.0),  # crosses itself
        ([0, 1], 0.0),
        ([], 0.0),
    ],
)
def test_the_area_is_that_of_the_polygon(found: list[int], share: float) -> None:
    assert covered_area(SQUARE, found, [0, 1, 2, 3]) == pytest.approx(share)


def test_a_hull_without_area_is_covered_by_itself_alone() -> None:
    line = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]
    assert covered_area(line, [2, 0], [0, 2]) == 1.0
    assert covered_area(line, [0, 1], [0, 2]) == 0.0
