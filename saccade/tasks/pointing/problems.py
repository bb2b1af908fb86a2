"""Problems whose answer is an order of their inputs, made from a seed: numbers to sort, and points with their hull."""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

ProblemKind = Literal["sort", "hull"]

Point = Sequence[float]

_SURE = 1e-12  # a turn by more than this, of points of size one, cannot be an error of rounding


class Problem(NamedTuple):
    """Inputs, and the indices of those that make up the answer, in order."""

    inputs: list[list[float]]  # [n, size]: numbers by themselves have size 1, points 2
    answer: list[int]


def sorted_order(inputs: Sequence[Point]) -> list[int]:
    """The indices of the inputs from the lowest to the highest; of equals, the earlier first."""
    return sorted(range(len(inputs)), key=lambda index: inputs[index][0])


def convex_hull(points: Sequence[Point]) -> list[int]:
    """The indices of the corners of the convex hull, counter-clockwise, from the one that stands first among the
    points.

    By Andrew's monotone chain (1979): from left to right along the lower side, back along the upper one, and whatever
    does not turn left is no corner. Points within an edge are none. Of points in one place, the earliest stands for
    all; where all points lie on one line, its two ends are the hull.
    """
    order = sorted(range(len(points)), key=lambda index: (points[index][0], points[index][1], index))
    order = [
        index
        for number, index in enumerate(order)
        if number == 0 or tuple(points[index]) != tuple(points[order[number - 1]])
    ]
    if len(order) < 3:
        return sorted(order)
    corners = [*_chain(points, order)[:-1], *_chain(points, order[::-1])[:-1]]
    first = corners.index(min(corners))
    return corners[first:] + corners[:first]


def _chain(points: Sequence[Point], order: Sequence[int]) -> list[int]:
    """One side of the hull, its two ends included."""
    chain: list[int] = []
    for index in order:
        while len(chain) > 1 and turn(points[chain[-2]], points[chain[-1]], points[index]) <= 0:
            chain.pop()
        chain.append(index)
    return chain


def turn(a: Point, b: Point, c: Point) -> float:
    """Above 0 where the way from `a` over `b` to `c` turns left, below 0 where it turns right; 0 on a line, exactly.

    (b - a) × (c - a), in whole fractions where rounding might have decided.
    """
    products = (b[0] - a[0]) * (c[1] - a[1]), (b[1] - a[1]) * (c[0] - a[0])
    if abs(products[0] - products[1]) > _SURE * (abs(products[0]) + abs(products[1])):
        return products[0] - products[1]
    (ax, ay), (bx, by), (cx, cy) = ((Fraction(x), Fraction(y)) for x, y in (a, b, c))
    exact = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return float((exact > 0) - (exact < 0))


# One line a kind: how many numbers an input has, and how its answer is found.
KINDS: dict[ProblemKind, tuple[int, Callable[[Sequence[Point]], list[int]]]] = {
    "sort": (1, sorted_order),
    "hull": (2, convex_hull),
}


def make_problems(kind: ProblemKind, count: int, *, seed: int | str, min_length: int, max_length: int) -> list[Problem]:
    """So many problems with `min_length` to `max_length` inputs each, drawn evenly from [0, 1).

    The same for the same seed.
    """
    size, answer_of = KINDS[kind]
    rng = random.Random(f"{kind} {seed}")
    problems: list[Problem] = []
    for _ in range(count):
        inputs = [[rng.random() for _ in range(size)] for _ in range(rng.randint(min_length, max_length))]
        problems.append(Problem(inputs, answer_of(inputs)))
    return problems
