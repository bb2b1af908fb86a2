"""A lesson as a figure, by matplotlib: PNG, SVG or PDF, one block under the other."""

import itertools
import math
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from saccade.base.files import write_file
from saccade.look.figure import SETTINGS, figure_bytes, form_of
from saccade.look.maps import drawable, plain
from saccade.show._numbers import holds_numbers, number
from saccade.show.lesson import Bars, Block, Curves, Lesson, Matrix, Table, Text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDE, _EDGE, _GAP = 8.0, 0.4, 0.22  # inches: the sheet, its margin, what is between two blocks
_ROOM = _WIDE - 2 * _EDGE
_LINE, _LETTER = 0.19, 0.076  # inches of a line and of a letter, in the mean of a text
_DIGIT, _BOLD = 0.086, 0.09  # inches of a digit, and of a bold letter
_POINTS = 9.5
_BETWEEN = 0.25  # inches between two columns of a table
_COLOURS = ("#0b57a4", "#c2501c", "#1a7f45", "#8a3fa0", "#7a6000", "#a8164f")
_MARKS, _LINES = "os^Dv*", ("-", "--", ":", "-.")
_FAINT = "#59636e"
_MOST_WITH_NUMBERS = 12  # columns of a matrix


class _Sheet(NamedTuple):
    """Where one draws, in inches from the left and from the top."""

    figure: "Figure"
    high: float

    def text(self, x: float, y: float, text: str, **how: Any) -> None:
        how = {"fontsize": _POINTS, "va": "top"} | how
        self.figure.text(x / _WIDE, 1 - y / self.high, plain(text), **how)

    def axes(self, x: float, y: float, wide: float, high: float) -> Any:
        return self.figure.add_axes((x / _WIDE, 1 - (y + high) / self.high, wide / _WIDE, high / self.high))


class _Piece(NamedTuple):
    """How high a block is, and what draws it below a place on a sheet."""

    high: float
    draw: Callable[[_Sheet, float], None]


def draw_picture(lesson: Lesson) -> "Figure":
    """The whole lesson on one sheet, as high as it has to be."""
    import matplotlib as mpl  # noqa: PLC0415 - half a second that only figures need
    from matplotlib.figure import Figure  # noqa: PLC0415

    pieces = [_lines([lesson.title], line=0.3, fontsize=15, fontweight="bold")]
    for block in lesson.blocks:
        pieces += _pieces(block)
    if lesson.paper:
        pieces.append(_lines(_wrap(lesson.paper), color=_FAINT, fontstyle="italic"))
    high = sum(piece.high + _GAP for piece in pieces) - _GAP + 2 * _EDGE
    with mpl.rc_context(SETTINGS | {"font.family": ["DejaVu Sans"], "font.size": _POINTS}):
        sheet, top = _Sheet(Figure(figsize=(_WIDE, high)), high), _EDGE
        for piece in pieces:
            piece.draw(sheet, top)
            top += piece.high + _GAP
    return sheet.figure


def save_picture(path: Path, lesson: Lesson) -> None:
    """Draw and write; the name's end says whether PNG, SVG or PDF."""
    form = form_of(path)
    write_file(path, figure_bytes(draw_picture(lesson), form))


def _pieces(block: Block) -> list[_Piece]:
    match block:
        case Text():
            return [_lines(_wrap(paragraph)) for paragraph in block.paragraphs]
        case Table():
            piece = _table(block)
        case Curves():
            piece = _curves(block)
        case Matrix():
            piece = _matrix(block)
        case Bars():
            piece = _bars(block)
    return [_below_caption(block.caption, piece) if block.caption else piece]


def _below_caption(caption: str, piece: _Piece) -> _Piece:
    above = _lines(_wrap(caption), color=_FAINT)

    def draw(sheet: _Sheet, top: float) -> None:
        above.draw(sheet, top)
        piece.draw(sheet, top + above.high + 0.06)

    return _Piece(above.high + 0.06 + piece.high, draw)


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(drawable(text), int(_ROOM / _LETTER))


def _lines(lines: Sequence[str], *, line: float = _LINE, **how: Any) -> _Piece:
    def draw(sheet: _Sheet, top: float) -> None:
        for index, text in enumerate(lines):
            sheet.text(_EDGE, top + index * line, text, **how)

    return _Piece(line * len(lines), draw)


def _table(table: Table) -> _Piece:
    """Columns as wide as what is in them; where that is too much, the widest of them is broken into lines."""
    everything = [table.header, *table.rows]
    wide = [
        max(_BOLD * len(name), *(_DIGIT * len(cell) for cell in cells)) + _BETWEEN
        for name, *cells in zip(*everything, strict=True)
    ]
    widest = wide.index(max(wide))
    wide[widest] = max(1.0, wide[widest] - max(0.0, sum(wide) - _ROOM))
    letters = [math.ceil((size - _BETWEEN) / _DIGIT) for size in wide]
    lefts = [*itertools.accumulate(wide, initial=_EDGE)][:-1]
    rows = [
        [textwrap.wrap(drawable(cell), count) for cell, count in zip(row, letters, strict=True)] for row in everything
    ]
    heights = [_LINE * max(1, *map(len, row)) + 0.05 for row in rows]
    numbers = [holds_numbers(table, index) for index in range(len(wide))]

    def draw(sheet: _Sheet, top: float) -> None:
        for index, (row, high) in enumerate(zip(rows, heights, strict=True)):
            weight = "bold" if index == 0 else "normal"
            for lines, left, size, right in zip(row, lefts, wide, numbers, strict=True):
                x, side = (left + size - _BETWEEN, "right") if right else (left, "left")
                for line, text in enumerate(lines):
                    sheet.text(x, top + line * _LINE, text, ha=side, fontweight=weight)
            top += high

    return _Piece(sum(heights), draw)


def _curves(curves: Curves) -> _Piece:
    high, left, below = 2.9, 0.65, 0.5

    def draw(sheet: _Sheet, top: float) -> None:
        axes = sheet.axes(_EDGE + left, top, _ROOM - left, high - below)
        for index, (name, line) in enumerate(curves.lines.items()):
            axes.plot(
                list(curves.x),
                list(line),
                color=_COLOURS[index % len(_COLOURS)],
                marker=_MARKS[index % len(_MARKS)],
                linestyle=_LINES[index % len(_LINES)],
                markersize=3.5,
                linewidth=1.4,
                label=plain(name),
            )
        axes.set_xscale("log" if curves.log_x else "linear")
        axes.set_yscale("log" if curves.log_y else "linear")
        axes.set_xlabel(plain(curves.x_label))
        axes.set_ylabel(plain(curves.y_label))
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8.5)

    return _Piece(high, draw)


def _bars(bars: Bars) -> _Piece:
    row, below = 0.27, 0.45
    left = _LETTER * max((len(label) for label in bars.labels), default=0) + 0.1
    high = row * len(bars.labels) + below

    def draw(sheet: _Sheet, top: float) -> None:
        axes = sheet.axes(_EDGE + left, top, _ROOM - left - 0.6, high - below)
        places = range(len(bars.labels))
        drawn = axes.barh(places, list(bars.values), height=0.7, color=_COLOURS[0])
        axes.bar_label(drawn, [number(value) for value in bars.values], padding=3, fontsize=8.5)
        axes.set_yticks(places, [plain(label) for label in bars.labels])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(plain(bars.value_label))
        axes.spines[["top", "right"]].set_visible(False)

    return _Piece(high, draw)


def _matrix(matrix: Matrix) -> _Piece:
    """The columns' labels stand above, leaning where they are longer than a column is wide."""
    rows, columns = ([drawable(label) for label in labels] for labels in (matrix.rows, matrix.columns))
    shown = len(columns) <= _MOST_WITH_NUMBERS
    left = _LETTER * max(map(len, rows), default=0) + 0.1
    wide = 0.58 if shown else min(0.24, (_ROOM - left) / len(columns))
    cell = 0.27 if shown else wide
    longest = max(map(len, columns), default=0)
    leaning = longest * _LETTER > wide
    above = 0.75 * _LETTER * longest + 0.15 if leaning else 0.22 if longest else 0.0

    def draw(sheet: _Sheet, top: float) -> None:
        axes = sheet.axes(_EDGE + left, top + above, wide * len(columns), cell * len(rows))
        low, full = matrix.scale
        axes.pcolormesh(
            np.ma.masked_invalid(matrix.weights.astype(np.float64)),
            cmap=_colours(diverging=matrix.diverging),
            vmin=low,
            vmax=full,
            edgecolors="#d1d9e0",
            linewidth=0.3,
        )
        axes.invert_yaxis()
        axes.set_yticks([index + 0.5 for index in range(len(rows))], [plain(label) for label in rows])
        how = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if leaning else {}
        axes.set_xticks([index + 0.5 for index in range(len(columns))], [plain(label) for label in columns], **how)
        axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False, labelsize=8.5)
        if shown:
            _write_numbers(axes, matrix)
        else:
            _write_scale(sheet, top + above + cell * len(rows) + 0.08, matrix)

    return _Piece(above + cell * len(rows) + (0 if shown else 0.3), draw)


def _write_numbers(axes: Any, matrix: Matrix) -> None:
    for (down, across), value in np.ndenumerate(matrix.weights):
        if np.isfinite(value):
            ink = "white" if abs(value) > 0.7 * matrix.scale[1] else "black"
            text = f"{value:.{matrix.digits}f}"
            axes.text(across + 0.5, down + 0.5, text, ha="center", va="center", fontsize=8, color=ink)


def _write_scale(sheet: _Sheet, top: float, matrix: Matrix) -> None:
    """What the shades stand for, where no numbers say it."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    low, full = matrix.scale
    values = [low, 0.0, full] if matrix.diverging else [low, full]
    axes = sheet.axes(_EDGE, top, 0.9 * len(values), 0.18)
    axes.set_axis_off()
    axes.set_xlim(0, 0.9 * len(values))
    axes.set_ylim(0, 0.18)
    colours = _colours(diverging=matrix.diverging)
    for index, value in enumerate(values):
        colour = colours((value - low) / (full - low))
        axes.add_patch(Rectangle((0.9 * index, 0.01), 0.18, 0.16, facecolor=colour, edgecolor="#d1d9e0"))
        axes.text(0.9 * index + 0.26, 0.09, number(value), va="center", fontsize=8.5)


def _colours(*, diverging: bool) -> Any:
    """White for 0, and the page's hues for what is above and below."""
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415

    hues = [_COLOURS[1], "#ffffff", _COLOURS[0]] if diverging else ["#ffffff", _COLOURS[0]]
    return LinearSegmentedColormap.from_list("lesson", hues)
