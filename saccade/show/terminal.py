"""A lesson in a terminal of any colours: characters alone, no wider than the terminal."""

import itertools
from collections.abc import Iterator

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text as RichText

from saccade.look import drawable
from saccade.show._axis import Axis, axis_of
from saccade.show._numbers import holds_numbers, number
from saccade.show.lesson import Bars, Block, Curves, Lesson, Matrix, Table, Text

_WIDEST = 80  # columns of the terminal that are used, however many there are
_SHADES = "·░▒▓█"
_MARKS = "●○■□▲△◆◇"
_HIGH = 14  # lines of a diagram
_LONGEST = 16  # columns of the terminal for a label


def draw_lesson(lesson: Lesson, *, width: int = _WIDEST) -> Group:
    """All of it, one block under the other, for a terminal of `width` columns."""
    width = min(width, _WIDEST)
    parts: list[RenderableType] = [RichText(drawable(lesson.title), style="bold")]
    for block in lesson.blocks:
        parts.append(RichText())
        parts.extend(_draw_block(block, width))
    if lesson.paper:
        parts += [RichText(), RichText(drawable(lesson.paper), style="italic")]
    return Group(*parts)


def _draw_block(block: Block, width: int) -> Iterator[RenderableType]:
    match block:
        case Text():
            yield RichText("\n\n".join(map(drawable, block.paragraphs)))
            return
        case Table():
            body: RenderableType = _draw_table(block)
        case Curves():
            body = RichText("\n".join(_draw_curves(block, width)))
        case Matrix():
            body = RichText("\n".join(_draw_matrix(block, width)), no_wrap=True)
        case Bars():
            body = RichText("\n".join(_draw_bars(block, width)))
    if block.caption:
        yield RichText(drawable(block.caption), style="italic")
    yield body


def _draw_table(table: Table) -> RichTable:
    drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, name in enumerate(table.header):
        drawn.add_column(RichText(drawable(name)), justify="right" if holds_numbers(table, index) else "left")
    for row in table.rows:
        drawn.add_row(*(RichText(drawable(cell)) for cell in row))
    return drawn


def _draw_bars(bars: Bars, width: int) -> list[str]:
    numbers = [number(value) for value in bars.values]
    margin = max(map(cell_len, map(drawable, bars.labels)), default=0)
    room = max(8, width - margin - max(map(len, numbers), default=0) - 3)
    largest = max(bars.values, default=0.0) or 1.0
    lines = [" " * (margin + 2) + drawable(bars.value_label)]
    for label, value, text in zip(bars.labels, bars.values, numbers, strict=True):
        eighths = round(8 * room * value / largest)
        bar = "█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else "")
        lines.append(f"{set_cell_size(drawable(label), margin)}  {bar or '▏'} {text}")
    return lines


def _draw_matrix(matrix: Matrix, width: int) -> Iterator[str]:
    """Shades, and beside each its number if all columns have room so; else shades alone, in parts if need be."""
    rows, columns = ([_fit(label) for label in labels] for labels in (matrix.rows, matrix.columns))
    margin, count = max(map(cell_len, rows), default=0) + 1, max(1, len(columns))
    cells, scale = _shades_and_numbers(matrix), matrix.scale
    wide = max((len(cell) for row in cells for cell in row), default=0) + 2
    has_numbers = margin + count * wide <= width
    if not has_numbers:
        wide = next((size for size in (3, 2) if margin + count * size <= width), 1)
        cells = [[_shade(value, scale) * min(wide, 2) for value in row] for row in matrix.weights.tolist()]
    at_a_time = max(1, (width - margin) // wide)
    for first in range(0, len(columns), at_a_time):
        part = slice(first, first + at_a_time)
        if first:
            yield ""
        yield from ((" " * margin + line).rstrip() for line in _header(columns[part], wide))
        for label, row in zip(rows, cells, strict=True):
            line = "".join(set_cell_size(cell, wide) for cell in row[part])
            yield f"{set_cell_size(label, margin)}{line}".rstrip()
    if not has_numbers:
        middle = f"   {_SHADES[2]} 0" if matrix.diverging else ""
        yield f"{' ' * margin}{_SHADES[0]} {number(scale[0])}{middle}   {_SHADES[-1]} {number(scale[1])}"


def _fit(label: str) -> str:
    label = drawable(label)
    return label if cell_len(label) <= _LONGEST else set_cell_size(label, _LONGEST - 1) + "…"


def _shades_and_numbers(matrix: Matrix) -> list[list[str]]:
    """Each cell as two shades and its number, all as wide as the widest."""
    values, scale = matrix.weights.tolist(), matrix.scale
    texts = [[f"{value:.{matrix.digits}f}" if np.isfinite(value) else "-" for value in row] for row in values]
    longest = max((len(text) for row in texts for text in row), default=0)
    return [
        [f"{_shade(value, scale) * 2} {text:>{longest}}" for value, text in zip(*row, strict=True)]
        for row in zip(values, texts, strict=True)
    ]


def _shade(value: float, scale: tuple[float, float]) -> str:
    if not np.isfinite(value):
        return " "
    low, high = scale
    return _SHADES[min(4, int(5 * (value - low) / (high - low)))]


def _header(labels: list[str], cell: int) -> list[str]:
    """The columns' labels: side by side where they fit, or else downwards; nothing if there are none."""
    if not any(labels):
        return []
    if max(map(cell_len, labels)) <= max(1, cell - 1):
        return ["".join(set_cell_size(label, cell) for label in labels)]
    height = max(map(len, labels))
    letters = itertools.zip_longest(*(label.rjust(height) for label in labels), fillvalue=" ")
    return ["".join(set_cell_size(letter, cell) for letter in line) for line in letters]


def _draw_curves(curves: Curves, width: int) -> Iterator[str]:
    """Marks where values are, a different one for each line, and dots between them."""
    across = axis_of(curves.x, log=curves.log_x)
    upwards = axis_of((value for line in curves.lines.values() for value in line), log=curves.log_y, whole=True)
    labels = {round((_HIGH - 1) * (1 - (upwards.place(tick) or 0.0))): number(tick) for tick in upwards.ticks()}
    margin = max(map(len, labels.values())) + 1
    grid = [[" "] * (width - margin - 1) for _ in range(_HIGH)]
    marks = dict(zip(curves.lines, itertools.cycle(_MARKS), strict=False))
    for name, line in curves.lines.items():
        _draw_line(grid, list(zip(map(across.place, curves.x), map(upwards.place, line), strict=True)), marks[name])
    yield drawable(curves.y_label)
    for index, row in enumerate(grid):
        label = labels.get(index, "")
        yield f"{label:>{margin - 1}} {'┤' if label else '│'}{''.join(row)}".rstrip()
    yield from _below(across, margin, width - margin - 1)
    yield f"{drawable(curves.x_label):>{width}}"
    yield "   ".join(f"{marks[name]} {drawable(name)}" for name in curves.lines)


def _draw_line(grid: list[list[str]], points: list[tuple[float | None, float | None]], mark: str) -> None:
    wide, high = len(grid[0]) - 1, len(grid) - 1

    def put(x: float, y: float, letter: str) -> None:
        row, column = round(high * (1 - y)), round(wide * x)
        if letter == mark or grid[row][column] == " ":
            grid[row][column] = letter

    for (x, y), (next_x, next_y) in itertools.pairwise(points):
        if x is None or y is None or next_x is None or next_y is None:
            continue
        steps = 2 * max(1, round(abs(next_x - x) * wide), round(abs(next_y - y) * high))
        for step in range(steps):
            put(x + (next_x - x) * step / steps, y + (next_y - y) * step / steps, "·")
    for x, y in points:
        if x is not None and y is not None:
            put(x, y, mark)


def _below(axis: Axis, margin: int, wide: int) -> Iterator[str]:
    """The horizontal axis and its numbers."""
    line, numbers = list("─" * wide), [" "] * (wide + 8)
    free = 0
    for tick in axis.ticks():
        text, at = number(tick), round((wide - 1) * (axis.place(tick) or 0.0))
        start = max(0, at - len(text) // 2)
        start = min(start, wide - len(text))
        line[at] = "┬"
        if start >= free:
            numbers[start : start + len(text)] = text
            free = start + len(text) + 1
    yield f"{' ' * margin}└{''.join(line)}"
    yield f"{' ' * margin} {''.join(numbers)}".rstrip()
