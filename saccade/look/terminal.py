"""An attention map in plain characters, for any terminal."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_SHADES = "·░▒▓█"


def draw_text(weights: NDArray[np.float32], rows: Sequence[str], columns: Sequence[str]) -> str:
    """One line for each of `rows`, one cell for each of `columns`, darker where more weight lies.

    `weights` is `[rows, columns]`, each from 0 to 1. The columns' labels stand above, written downwards if one of them
    is longer than two letters.
    """
    if weights.shape != (len(rows), len(columns)):
        raise ValueError(
            f"weights: found shape {list(weights.shape)}, wanted [{len(rows)}, {len(columns)}], the rows and columns"
        )
    if not bool(np.isfinite(weights).all()):
        raise ValueError("weights: found numbers that are not finite, wanted weights from 0 to 1")
    width = max(map(len, rows), default=0)
    height = max(map(len, columns), default=0)
    if height <= 2:
        lines = [" " * (width + 2) + " ".join(f"{column:<2}" for column in columns).rstrip()]
    else:
        letters = [column.rjust(height) for column in columns]
        lines = [
            " " * (width + 2) + "".join(f"{column[place]}  " for column in letters).rstrip() for place in range(height)
        ]
    for row, cells in zip(rows, weights, strict=True):
        shades = (_SHADES[min(len(_SHADES) - 1, int(cell * len(_SHADES)))] * 2 for cell in np.clip(cells, 0, 1))
        lines.append(f"{row:>{width}}  " + " ".join(shades))
    return "\n".join(lines)
