"""An attention map in a terminal: in colour by rich, or in plain characters anywhere."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from saccade.base.errors import InputError
from saccade.look.maps import AttentionMap, shown

_SHADES = "·░▒▓█"
_LONGEST = 16  # columns of the terminal for a row's label
# One hue, ever brighter: from almost black by blue to almost white.
_STOPS = np.array([(24, 28, 34), (23, 55, 96), (52, 118, 186), (147, 196, 240), (244, 250, 255)], dtype=np.float64)


def draw_text(weights: NDArray[np.float32], rows: Sequence[str], columns: Sequence[str]) -> str:
    """One line for each of `rows`, one cell for each of `columns`, darker where more weight lies.

    `weights` is `[rows, columns]`, each from 0 to 1. The columns' labels stand above, written downwards if one of them
    is longer than two letters.
    """
    if np.ndim(weights) != 2:
        raise InputError(f"weights: found {np.ndim(weights)} axes, wanted two, [rows, columns]")
    return draw(AttentionMap(rows, columns, weights), colour=False, width=1 << 16).plain


def draw(
    attention: AttentionMap,
    *,
    layer: int | None = None,
    head: int | None = None,
    colour: bool = True,
    width: int = 80,
) -> Text:
    """A map for a terminal of `width` columns; with more columns than fit, in several parts one under the other.

    The mean over layers and heads, or those that are chosen, counted from 0. In colour the weight is a shade of blue
    behind its first digits, so that it can be read without telling colours apart.
    """
    weights = attention.matrix(layer=layer, head=head)
    rows = [_fit(label) for label in attention.rows]
    margin = max(map(cell_len, rows)) + 2
    at_a_time = max(1, (width - margin) // 3)
    if width - margin < 3:
        raise InputError(f"width: found {width}, wanted at least {margin + 3}, for the labels and one column")
    parts: list[Text] = []
    columns = attention.column_labels
    for first in range(0, len(columns), at_a_time):
        part = slice(first, first + at_a_time)
        lines = [" " * margin + line for line in _header([_fit(label) for label in columns[part]])]
        text = Text("\n".join(line.rstrip() for line in lines))
        for label, cells in zip(rows, weights[:, part], strict=True):
            text.append("\n" + set_cell_size("", margin - 2 - cell_len(label)) + label + " ")
            for cell in cells.tolist():
                text.append(" ")
                text.append_text(_colour(cell) if colour else Text(_SHADES[min(4, int(cell * 5))] * 2))
        parts.append(text)
    return Text("\n\n").join(parts)


def _fit(label: str) -> str:
    """A label that is no wider than there is room, and that moves no cursor."""
    label = "".join(letter if letter.isprintable() else "�" for letter in shown(label))
    return label if cell_len(label) <= _LONGEST else set_cell_size(label, _LONGEST - 1) + "…"


def _header(labels: list[str]) -> list[str]:
    """The columns' labels, three columns of the terminal each, downwards if one is longer than two letters."""
    if max(map(cell_len, labels)) <= 2:
        return [" ".join(set_cell_size(label, 2) for label in labels)]
    height = max(map(len, labels))
    letters = itertools.zip_longest(*(reversed(label) for label in labels), fillvalue=" ")
    lines = ["".join(set_cell_size(letter, 3) for letter in line) for line in letters]
    return lines[::-1][:height]


def _colour(weight: float) -> Text:
    """Two digits on a shade: 07 is 0.07, and ## is all of it."""
    position = min(max(weight, 0.0), 1.0) * (len(_STOPS) - 1)
    low = min(int(position), len(_STOPS) - 2)
    red, green, blue = (_STOPS[low] + (_STOPS[low + 1] - _STOPS[low]) * (position - low)).round().astype(int).tolist()
    ink = "black" if position > 2.4 else "white"
    hundredths = round(weight * 100)
    digits = "##" if hundredths >= 100 else f"{hundredths:02d}" if hundredths else "  "
    return Text(digits, style=Style(color=ink, bgcolor=f"rgb({red},{green},{blue})"))
