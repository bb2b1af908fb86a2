"""A lesson: a few plain sentences, and the tables and pictures of what was computed for it.

It is made of plain numbers and texts, so that terminal, page and figure draw the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError


@dataclass(frozen=True)
class Text:
    """A paragraph. Single line ends are spaces, and empty lines part paragraphs."""

    text: str

    @property
    def paragraphs(self) -> list[str]:
        return [" ".join(part.split()) for part in self.text.split("\n\n") if part.strip()]


@dataclass(frozen=True)
class Table:
    """Cells as texts, a header above them; a column of numbers stands to the right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            _expect_one_count("row", row, "header", self.header)


@dataclass(frozen=True)
class Curves:
    """Lines by name over one `x`. What is no number, or on a logarithmic axis not above 0, is a gap."""

    x: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False
    caption: str = ""

    def __post_init__(self) -> None:
        for name, line in self.lines.items():
            _expect_one_count(f"line {name!r}", line, "x", self.x)


@dataclass(frozen=True)
class Matrix:
    """Numbers `[rows, columns]` as shades, with their digits where there is room.

    The shades go from 0 to 1, or to the largest where that is more; with `diverging` from minus the largest size to
    plus it. NaN is a cell in which there is nothing, such as one behind a mask. Labels may be "".
    """

    weights: NDArray[Any]
    rows: Sequence[str]
    columns: Sequence[str]
    caption: str = ""
    diverging: bool = False
    digits: int = 2  # behind the point, where numbers are shown

    def __post_init__(self) -> None:
        if np.ndim(self.weights) != 2:
            raise InputError(f"weights: found {np.ndim(self.weights)} axes, wanted two, [rows, columns]")
        if self.weights.shape != (len(self.rows), len(self.columns)):
            labels = f"{len(self.rows)} rows and {len(self.columns)} columns"
            raise InputError(f"weights: found shape {list(self.weights.shape)}, wanted the labels' {labels}")

    @property
    def scale(self) -> tuple[float, float]:
        """The numbers that have no shade and all of it."""
        numbers = self.weights[np.isfinite(self.weights)]
        largest = max(1.0, float(np.abs(numbers).max(initial=0.0)))
        return (-largest if self.diverging else 0.0), largest


@dataclass(frozen=True)
class Bars:
    """One bar for each label, from 0 on: no value is below."""

    labels: Sequence[str]
    values: Sequence[float]
    value_label: str
    caption: str = ""

    def __post_init__(self) -> None:
        _expect_one_count("values", self.values, "labels", self.labels)
        if not all(value >= 0 for value in self.values):
            raise InputError(f"values: found {min(self.values)}, wanted 0 or more; draw others as Curves or a Matrix")


Block = Text | Table | Curves | Matrix | Bars


@dataclass(frozen=True)
class Lesson:
    """What a topic has to show."""

    title: str
    blocks: tuple[Block, ...]
    paper: str = ""


def _expect_one_count(name: str, one: Sequence[Any], other_name: str, other: Sequence[Any]) -> None:
    if len(one) != len(other):
        raise InputError(f"{name}: found {len(one)}, wanted {len(other)}, as many as {other_name} has")
