"""Problems to point at: their answers against other ways to find them, and the files that hold them."""

import gzip
import itertools
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saccade.base.errors import InputError
from saccade.tasks.pointing.files import parse_inputs, read_problems
from saccade.tasks.pointing.problems import convex_hull, make_problems, sorted_order

# Few coordinates, so that points fall together and on one line.
on_a_grid = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9)


def left_of(a: Any, b: Any, c: Any) -> Any:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def hull_by_edges(points: list[Any]) -> set[tuple[int, int]]:
    """The edges of the hull by what they are: from one point to another with no point on the right.

    Where several such lie on one line, the longest is the edge. Whole numbers, so nothing is rounded.
    """
    found: set[tuple[int, int]] = set()
    for a, b in itertools.permutations(range(len(points)), 2):
        others = [(left_of(points[a], points[b], point), point) for point in points]
        if points[a] == points[b] or any(side < 0 for side, _ in others):
            continue
        along = [(point[0] - points[a][0], point[1] - points[a][1]) for side, point in others if side == 0]
        way = (points[b][0] - points[a][0], points[b][1] - points[a][1])
        shares = [step[0] * way[0] + step[1] * way[1] for step in along]
        if min(shares) == 0 and max(shares) == way[0] ** 2 + way[1] ** 2:
            found.add((points.index(points[a]), points.index(points[b])))  # of points in one place, the earliest
    return found


@given(on_a_grid)
def test_the_hull_is_made_of_edges_with_nothing_outside(points: list[tuple[int, int]]) -> None:
    hull = convex_hull(points)
    assert len(set(hull)) == len(hull)
    assert hull[0] == min(hull)
    if len(set(points)) == 1:
        assert hull == [0]
        return
    edges = set(zip(hull, [*hull[1:], *hull[:1]], strict=True))
    assert edges == hull_by_edges(points)


@pytest.mark.parametrize("seed", range(30))
def test_a_point_is_a_corner_if_a_line_through_it_has_all_others_on_one_side(seed: int) -> None:
    rng = random.Random(seed)
    points = [[rng.random(), rng.random()] for _ in range(rng.randint(3, 12))]
    count = range(len(points))
    corners = {
        a
        for a in count
        for b in count
        if a != b and len({left_of(points[a], points[b], points[c]) > 0 for c in count if c not in (a, b)}) <= 1
    }
    hull = convex_hull(points)
    assert set(hull) == corners
    turns = [
        left_of(points[a], points[b], points[c])
        for a, b, c in zip(hull, hull[1:] + hull[:1], hull[2:] + hull[:2], strict=True)
    ]
    assert min(turns) > 0  # counter-clockwise


@pytest.mark.parametrize(
    "points",
    [
        [(0.0, 0.0), (0.25, 0.5), (0.5, 1.0)],  # on a line
        [(0.0, 0.0), (0.5, 0.5 - 2**-54), (1.0, 1.0)],  # off it by less than a product of floats can tell
        [(0.0, 0.0), (0.1, 0.3), (0.2, 0.6), (0.3, 0.9)],  # on it or not: 0.1 is not quite a tenth
        [(1e6 + 0.1, 0.1), (1e6 + 0.2, 0.2), (1e6 + 0.3, 0.3)],
    ],
)
def test_rounding_decides_nothing(points: list[tuple[float, float]]) -> None:
    hull = convex_hull(points)
    exact = [(Fraction(x), Fraction(y)) for x, y in points]
    assert set(zip(hull, [*hull[1:], *hull[:1]], strict=True)) == hull_by_edges(exact)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_sorting_is_pythons(numbers: list[float]) -> None:
    order = sorted_order([[number] for number in numbers])
    assert [numbers[index] for index in order] == sorted(numbers)
    assert sorted(order) == list(range(len(numbers)))


@pytest.mark.parametrize(("kind", "size"), [("sort", 1), ("hull", 2)])
def test_made_problems(kind: Any, size: int) -> None:
    problems = make_problems(kind, 60, seed=3, min_length=4, max_length=6)
    assert {len(problem.inputs) for problem in problems} == {4, 5, 6}
    assert all(
        len(one) == size and all(0 <= part < 1 for part in one) for one in itertools.chain(*(p[0] for p in problems))
    )
    assert make_problems(kind, 60, seed=3, min_length=4, max_length=6) == problems
    assert make_problems(kind, 60, seed=4, min_length=4, max_length=6) != problems
    for inputs, answer in problems:
        assert answer == (sorted_order if kind == "sort" else convex_hull)(inputs)


def test_problems_of_ones_own(tmp_path: Path) -> None:
    records = [{"inputs": [[0.5, 1], [2, 3]], "answer": [1, 0]}, {"inputs": [[1, 1]], "answer": [0]}]
    (tmp_path / "own.jsonl").write_text("\n\n".join(map(json.dumps, records)))
    assert read_problems(tmp_path / "own.jsonl") == [([[0.5, 1.0], [2.0, 3.0]], [1, 0]), ([[1.0, 1.0]], [0])]
    (tmp_path / "again.jsonl").write_text('{"inputs": [3, 1], "answer": [1, 1, 0]}')
    assert read_problems(tmp_path / "again.jsonl", distinct=False) == [([[3.0], [1.0]], [1, 1, 0])]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2: not JSON"),
        ("[1, 2]", 'line 2: wanted {"inputs"'),
        ('{"inputs": [1, 2]}', 'line 2: wanted {"inputs"'),
        ('{"inputs": [], "answer": [0]}', "line 2: found no list of inputs"),
        ('{"inputs": [[]], "answer": [0]}', "line 2: input 0 has 0 numbers"),
        ('{"inputs": [[1, 2], [3]], "answer": [0]}', "line 2: input 1 has 1 numbers, wanted 2"),
        ('{"inputs": [1, "x"], "answer": [0]}', "line 2: found 'x' in input 1"),
        ('{"inputs": [1, NaN], "answer": [0]}', "line 2: found nan in input 1"),
        ('{"inputs": [1, true], "answer": [0]}', "line 2: found True in input 1"),
        ('{"inputs": [1, 2], "answer": []}', "line 2: found no answer"),
        ('{"inputs": [1, 2], "answer": [2]}', "line 2: found 2 in the answer, wanted indices from 0 to 1"),
        ('{"inputs": [1, 2], "answer": [0.5]}', "line 2: found 0.5 in the answer"),
        ('{"inputs": [1, 2], "answer": [1, 1]}', "line 2: the answer names input 1 twice"),
        ('{"inputs": [[1, 2]], "answer": [0]}', "problem 2 have 2 numbers each, those of the first 1"),
    ],
)
def test_a_bad_problem_is_named_with_its_line(line: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"inputs": [2, 1], "answer": [1, 0]}\n' + line + "\n")
    with pytest.raises(InputError) as error:
        read_problems(path)
    assert says in str(error.value)
    assert str(path) in str(error.value)


def test_packed_problems_and_halves_of_characters(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"inputs": [2, 1], "answer": [1, 0]}\n\n'))
    assert read_problems(path) == [([[2.0], [1.0]], [1, 0])]
    path.write_bytes(gzip.compress(rb'{"inputs": [2, 1], "answer": [1, 0], "\ud800": 1}'))
    with pytest.raises(InputError, match=r"own\.jsonl\.gz, line 1: found \\ud800, half of a character"):
        read_problems(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("\n")
    with pytest.raises(InputError, match="is empty"):
        read_problems(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("line", "inputs"),
    [
        ("3 1 2", [[3.0], [1.0], [2.0]]),
        ("3, 1,2e-1", [[3.0], [1.0], [0.2]]),
        ("[3, 1]", [[3.0], [1.0]]),
        (" [[3, 1], [0.5, 2]]", [[3.0, 1.0], [0.5, 2.0]]),
        ('{"inputs": [3], "answer": [0]}', [[3.0]]),
    ],
)
def test_inputs_are_written_in_several_ways(line: str, inputs: list[list[float]]) -> None:
    assert parse_inputs(line, "here") == inputs


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "here: found no list of inputs"),
        ("3 x", "here: found '3 x', wanted numbers such as 3 1 2"),
        ("3 nan", "here: found nan in input 1"),
        ('{"input": [1]}', 'here: found no "inputs"'),
        ("[3, 1", "here: not JSON"),
        ('["a"]', "here: found 'a' in input 0"),
        (r'{"inputs": [1], "name": "\ud800"}', r"here: found \ud800, half of a character"),
    ],
)
def test_bad_inputs_get_one_line(line: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        parse_inputs(line, "here")
    assert says in str(error.value)
