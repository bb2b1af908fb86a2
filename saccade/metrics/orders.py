"""How good answers are that are an order of their inputs."""

from collections.abc import Sequence
from itertools import combinations

Point = Sequence[float]


def same_cycle(found: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether both go round the same points in the same direction, wherever they begin."""
    if len(found) != len(wanted) or set(found) != set(wanted):
        return False
    first = found.index(wanted[0]) if wanted else 0
    return [*found[first:], *found[:first]] == list(wanted)


def covered_area(points: Sequence[Point], found: Sequence[int], hull: Sequence[int]) -> float:
    """The share of the hull's area that the polygon of the points `found` covers, from 0 to 1 (Vinyals 2015).

    A polygon that crosses itself covers nothing; a hull without area is covered by itself alone.
    """
    whole = _area([points[index] for index in hull])
    if whole == 0:
        return float(same_cycle(found, hull))
    corners = [points[index] for index in found]
    return 0.0 if _crosses_itself(corners) else abs(_area(corners)) / whole


def _area(corners: Sequence[Point]) -> float:
    """Gauss's formula: Σ (x_i y_i+1 - x_i+1 y_i) / 2; above 0 where the corners go counter-clockwise."""
    following = [*corners[1:], *corners[:1]]
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, following, strict=True)) / 2


def _crosses_itself(corners: Sequence[Point]) -> bool:
    edges = list(zip(corners, [*corners[1:], *corners[:1]], strict=True))
    return any(
        _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0
        for (a, b), (c, d) in combinations(edges, 2)
    )


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
