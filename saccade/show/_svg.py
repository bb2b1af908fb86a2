"""The pictures of a lesson as SVG within a page; their colours are the page's, light or dark."""

import html
import itertools
from collections.abc import Iterator

import numpy as np

from saccade.look import drawable
from saccade.show._axis import Axis, axis_of
from saccade.show._numbers import number
from saccade.show.lesson import Bars, Curves, Matrix

# `up` and `down` are the hues of numbers above and below 0; a cell's opacity is how much of it there is.
STYLE = """
:root { --paper: #ffffff; --ink: #141414; --faint: #59636e; --line: #d1d9e0; --shade: #f0f3f6;
  --up: #0b57a4; --down: #c2501c; --over: #ffffff;
  --c0: #0b57a4; --c1: #c2501c; --c2: #1a7f45; --c3: #8a3fa0; --c4: #7a6000; --c5: #a8164f }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0f1318; --ink: #e6edf3; --faint: #9aa5b1; --line: #333c46; --shade: #1b222a;
    --up: #79b8ff; --down: #ffab70; --over: #0f1318;
    --c0: #79b8ff; --c1: #ffab70; --c2: #7ee2a0; --c3: #d9a8f0; --c4: #e3d06a; --c5: #ff8fb4 } }
svg { display: block; font: 12px system-ui, sans-serif; max-width: none }
svg text { fill: var(--ink) }
svg .axis { fill: var(--faint) }
svg .over { fill: var(--over) }
svg .rule { stroke: var(--line); fill: none }
svg .cell { stroke: var(--line); stroke-width: 0.5 }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0.2rem 1.5rem; padding: 0; margin: 0.5rem 0 0;
  font-size: 0.9rem }
.legend li { display: flex; align-items: center; gap: 0.4rem }
"""

_WIDE = 640  # pixels of a picture
_LETTER = 7.8  # pixels of a letter, nearly
_HUES = 6
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_MOST_WITH_NUMBERS = 12  # columns


def matrix_svg(matrix: Matrix) -> str:
    """A square for each number; what it is stands in it, or if there are many appears under the pointer."""
    rows, columns = ([drawable(label) for label in labels] for labels in (matrix.rows, matrix.columns))
    shown = len(columns) <= _MOST_WITH_NUMBERS
    left = 12 + _LETTER * max(map(len, rows), default=0)
    wide = 52.0 if shown else max(4.0, min(24.0, (_WIDE - left) / len(columns)))
    high = 28.0 if shown else min(24.0, wide)
    longest = max(map(len, columns), default=0)
    leaning = longest * _LETTER > wide
    above = 6.0 + (0 if not longest else 0.75 * _LETTER * longest + 8 if leaning else 14)
    beside = 0.75 * _LETTER * len(columns[-1]) if leaning else 4.0
    bottom = above + high * len(rows)
    size = max(left + wide * len(columns) + beside, 200.0), bottom + (2 if shown else 28)
    parts = [_open(size, matrix.caption)]
    for index, label in enumerate(columns):
        x = left + (index + 0.5) * wide
        turn = f' transform="rotate(-45 {x:.1f} {above - 6:.1f})"' if leaning else ' text-anchor="middle"'
        parts.append(f'<text x="{x:.1f}" y="{above - 6:.1f}"{turn}>{_escape(label)}</text>')
    for down, label in enumerate(rows):
        y = above + (down + 0.5) * high
        parts.append(f'<text x="{left - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{_escape(label)}</text>')
        for across, value in enumerate(matrix.weights[down].tolist()):
            at = (left + across * wide, above + down * high, wide, high)
            parts.extend(_cell(matrix, value, at, f"{label}, {columns[across]}", shown=shown))
    if not shown:
        parts.extend(_scale(matrix, left, bottom + 8))
    return "\n".join([*parts, "</svg>"])


def _cell(
    matrix: Matrix, value: float, at: tuple[float, float, float, float], where: str, *, shown: bool
) -> Iterator[str]:
    x, y, wide, high = at
    box = f'<rect class="cell" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"'
    if not np.isfinite(value):
        yield f'{box} fill="none"/>'
        return
    share = abs(value) / matrix.scale[1]
    digits = f"{value:.{matrix.digits}f}"
    hue = "up" if value >= 0 else "down"
    fill = f'fill="var(--{hue})" fill-opacity="{share:.3f}"'
    yield f"{box} {fill}><title>{_escape(where.strip(', '))}: {digits}</title></rect>"
    if shown:
        middle = f'x="{x + wide / 2:.1f}" y="{y + high / 2 + 4:.1f}" text-anchor="middle" pointer-events="none"'
        over = ' class="over"' if share > 0.7 else ""
        yield f"<text {middle}{over}>{digits}</text>"


def _scale(matrix: Matrix, left: float, top: float) -> Iterator[str]:
    """What the shades stand for, where no numbers say it."""
    low, full = matrix.scale
    for index, value in enumerate([low, 0.0, full] if matrix.diverging else [low, full]):
        x, hue = left + 64 * index, "up" if value >= 0 else "down"
        fill = f'fill="var(--{hue})" fill-opacity="{abs(value) / full:.3f}"'
        yield f'<rect class="cell" x="{x:.1f}" y="{top:.1f}" width="16" height="16" {fill}/>'
        yield f'<text x="{x + 22:.1f}" y="{top + 12:.1f}">{number(value)}</text>'


def bars_svg(bars: Bars) -> str:
    """One bar under the other, each with its number."""
    labels = [drawable(label) for label in bars.labels]
    left, row, above = 12 + _LETTER * max(map(len, labels), default=0), 26.0, 20.0
    room, largest = _WIDE - left - 70, max(bars.values, default=0.0) or 1.0
    parts = [_open((_WIDE, above + row * len(labels)), bars.caption)]
    parts.append(f'<text class="axis" x="{left:.1f}" y="12">{_escape(drawable(bars.value_label))}</text>')
    for index, (label, value) in enumerate(zip(labels, bars.values, strict=True)):
        y, long = above + index * row, max(1.0, room * value / largest)
        parts += [
            f'<text x="{left - 6:.1f}" y="{y + 15:.1f}" text-anchor="end">{_escape(label)}</text>',
            f'<rect x="{left:.1f}" y="{y:.1f}" width="{long:.1f}" height="20" fill="var(--c0)"/>',
            f'<text x="{left + long + 6:.1f}" y="{y + 15:.1f}">{number(value)}</text>',
        ]
    return "\n".join([*parts, "</svg>"])


def curves_svg(curves: Curves) -> str:
    """Lines between axes, told apart by colour and by dashes; a point's number appears under the pointer."""
    across = axis_of(curves.x, log=curves.log_x)
    upwards = axis_of((value for line in curves.lines.values() for value in line), log=curves.log_y, whole=True)
    left = 14 + _LETTER * max(len(number(tick)) for tick in upwards.ticks())
    top, right, bottom, high = 26.0, 16.0, 42.0, 300.0
    area = (left, top, _WIDE - left - right, high - top - bottom)
    parts = [_open((_WIDE, high), curves.caption), *_axes(curves, across, upwards, area)]
    for index, (name, line) in enumerate(curves.lines.items()):
        points = [(across.place(x), upwards.place(y)) for x, y in zip(curves.x, line, strict=True)]
        colour = f"var(--c{index % _HUES})"
        for run in _runs(points, area):
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in run)
            parts.append(f'<polyline points="{path}" fill="none" {_stroke(index)}/>')
        for (x, y), seen_x, seen_y in zip(points, curves.x, line, strict=True):
            if x is not None and y is not None:
                at = _at((x, y), area)
                said = f"{drawable(name)}: {number(seen_y)} at {number(seen_x)}"
                parts.append(
                    f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="2.5" fill="{colour}">'
                    f"<title>{_escape(said)}</title></circle>"
                )
    return "\n".join([*parts, "</svg>"])


def legend(curves: Curves) -> str:
    """Which line is which."""
    items = (
        f'<li><svg width="28" height="8" aria-hidden="true"><line x1="0" x2="28" y1="4" y2="4" {_stroke(index)}/></svg>'
        f"{_escape(drawable(name))}</li>"
        for index, name in enumerate(curves.lines)
    )
    return f'\n<ul class="legend">{"".join(items)}</ul>'


def _axes(curves: Curves, across: Axis, upwards: Axis, area: tuple[float, float, float, float]) -> Iterator[str]:
    left, top, wide, high = area
    bottom = top + high
    for tick in upwards.ticks():
        y = _at((0.0, upwards.place(tick) or 0.0), area)[1]
        yield f'<path class="rule" d="M{left:.1f} {y:.1f}h{wide:.1f}"/>'
        yield f'<text class="axis" x="{left - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{number(tick)}</text>'
    for tick in across.ticks():
        x = _at((across.place(tick) or 0.0, 0.0), area)[0]
        yield f'<path class="rule" d="M{x:.1f} {bottom:.1f}v5"/>'
        yield f'<text class="axis" x="{x:.1f}" y="{bottom + 18:.1f}" text-anchor="middle">{number(tick)}</text>'
    yield f'<path class="rule" d="M{left:.1f} {top:.1f}v{high:.1f}h{wide:.1f}"/>'
    yield f'<text x="0" y="12">{_escape(drawable(curves.y_label))}</text>'
    x_label = _escape(drawable(curves.x_label))
    yield f'<text x="{left + wide:.1f}" y="{bottom + 36:.1f}" text-anchor="end">{x_label}</text>'


def _runs(
    points: list[tuple[float | None, float | None]], area: tuple[float, float, float, float]
) -> Iterator[list[tuple[float, float]]]:
    """The points of a line between its gaps, in pixels."""
    for there, run in itertools.groupby(points, key=lambda point: None not in point):
        if there:
            yield [_at((x, y), area) for x, y in run if x is not None and y is not None]


def _at(place: tuple[float, float], area: tuple[float, float, float, float]) -> tuple[float, float]:
    left, top, wide, high = area
    return left + wide * place[0], top + high * (1 - place[1])


def _stroke(index: int) -> str:
    dash = _DASHES[index % len(_DASHES)]
    return f'stroke="var(--c{index % _HUES})" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _open(size: tuple[float, float], caption: str) -> str:
    wide, high = size
    label = f' aria-label="{_escape(drawable(caption))}"' if caption else ""
    return f'<svg role="img"{label} width="{wide:.0f}" height="{high:.0f}" viewBox="0 0 {wide:.0f} {high:.0f}">'


def _escape(text: str) -> str:
    return html.escape(text)
