"""A lesson in the terminal: it fits, and what was computed can be read off."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from saccade.show import TOPICS, Bars, Curves, Lesson, Matrix
from saccade.show.terminal import draw_lesson
from tests.show.samples import SAMPLE, WAVES, WEIGHTS, lesson_of


def lines_of(lesson: Lesson, *, width: int = 80, colour: bool = False) -> list[str]:
    written = io.StringIO()
    console = Console(file=written, width=width, force_terminal=colour, highlight=False)
    console.print(draw_lesson(lesson, width=width))
    return [line.rstrip() for line in written.getvalue().splitlines()]


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_fits_into_eighty_columns(topic: str) -> None:
    lines = lines_of(lesson_of(topic))
    assert lines[0] == lesson_of(topic).title
    assert max(map(cell_len, lines)) <= 80
    assert len(lines) < 120


def test_no_colour_is_used() -> None:
    codes = set(re.findall(r"\x1b\[([\d;]*)m", "\n".join(lines_of(SAMPLE, colour=True))))
    assert codes == {"0", "1", "3"}  # bold and italic alone


def test_words_are_no_markup() -> None:
    lines = lines_of(SAMPLE)
    assert lines[0] == "Less <than> [bold]this[/bold]"
    assert "[red]x" in "\n".join(lines)


def test_numbers_of_a_small_matrix_stand_beside_their_shades() -> None:
    lines = lines_of(SAMPLE)
    start = lines.index("Weights < 1")
    assert lines[start + 2].split() == ["a", "&", "b", "░░", "0.25", "▓▓", "0.75", "-"]
    assert lines[start + 3].split() == ["c", "██", "1.00", "··", "0.00", "▒▒", "0.50"]
    assert WEIGHTS[1, 2] == 0.5


def test_shades_of_a_wide_matrix_tell_its_numbers() -> None:
    lines = lines_of(SAMPLE)
    start = lines.index("Waves")
    for line, row in zip(lines[start + 1 : start + 3], WAVES, strict=True):
        shades = line.split()[1:]
        for shade, value in zip(shades, row / abs(WAVES).max(), strict=True):
            assert shade == "·░▒▓█"[min(4, int((value + 1) * 2.5))] * 2
    assert lines[start + 3].split() == ["·", "-1", "▒", "0", "█", "1"]


@pytest.mark.parametrize(("columns", "parts"), [(25, 1), (39, 1), (78, 1), (100, 2)])
def test_a_matrix_takes_as_much_room_as_there_is(columns: int, parts: int) -> None:
    matrix = Matrix(WAVES[:, :1].repeat(columns, axis=1), ("r", "s"), ("",) * columns, diverging=True)
    lines = lines_of(Lesson("t", (matrix,)))
    assert sum(line.startswith("r ") for line in lines) == parts
    assert max(map(cell_len, lines)) <= 80


def test_bars_are_as_long_as_their_values() -> None:
    lines = lines_of(Lesson("t", (Bars(("a", "bb", "c"), (1, 4, 0), "n"),)))
    long = [line.count("█") for line in lines if line[:1] in {"a", "b", "c"}]
    assert long[1] > 40
    assert long[0] == long[1] // 4  # and a part of a block
    assert long[2] == 0
    assert [line.split()[-1] for line in lines[3:6]] == ["1", "4", "0"]


def test_marks_stand_where_the_values_are() -> None:
    curves = Curves((0, 5, 10), {"up": (0, 5, 10), "flat": (5, float("nan"), 5)}, "x", "y")
    lines = lines_of(Lesson("t", (curves,)))
    diagram = [line.partition("┤")[2] or line.partition("│")[2] for line in lines if "┤" in line or "│" in line]
    high, wide = len(diagram) - 1, max(map(len, diagram)) - 1
    marks = {(row, line.index("●")) for row, line in enumerate(diagram) if "●" in line}
    assert marks == {(0, wide), (round(high / 2), round(wide / 2)), (high, 0)}
    assert sum(line.count("○") for line in diagram) == 2
    assert lines[-1] == "● up   ○ flat"


def test_it_goes_into_a_narrow_terminal() -> None:
    assert max(map(cell_len, lines_of(SAMPLE, width=40))) <= 40
