"""Numbers as texts, the same in every picture."""

import re

from saccade.show.lesson import Table

_NUMBER = re.compile(r"[-−]?[\d.,]+(e[-+]?\d+)?\s?(%|×|s|ms|MB|KB)?")


def number(value: float) -> str:
    """A few digits of a value: `0.881`, `12`, `1,024`, `3.1e-18`."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def holds_numbers(table: Table, column: int) -> bool:
    """Whether a column stands to the right, as numbers do: most of it is numbers."""
    cells = [row[column] for row in table.rows]
    return 2 * sum(_NUMBER.fullmatch(cell) is not None for cell in cells) > len(cells)
