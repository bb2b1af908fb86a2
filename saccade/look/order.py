"""Points in a plane and the order in which they were pointed at: figure 1 of Vinyals 2015."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.look.figure import figure_bytes, form_of
from saccade.look.maps import as_path, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REST, _CHOSEN = (0.6, 0.6, 0.6), (0.03, 0.32, 0.61)
_ROOM = 0.09  # around the points, as a share of their extent


def draw_order(
    points: Sequence[Sequence[float]], order: Sequence[int], *, closed: bool = False, title: str = ""
) -> "Figure":
    """The points with their indices, and an arrow from each that was pointed at to the next.

    `points` is `[n, 2]`: x to the right, y upwards. With `closed`, the last leads back to the first, as in a hull. The
    first that was pointed at has a ring.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second that only figures need

    coordinates = np.asarray(points, dtype=np.float64)
    if coordinates.ndim != 2 or coordinates.shape[1] != 2 or not len(coordinates) or not np.isfinite(coordinates).all():
        raise InputError(f"points: found shape {list(coordinates.shape)}, wanted [points, 2], all finite")
    strange = [index for index in order if not 0 <= index < len(coordinates)]
    if strange:
        raise InputError(f"order: found {strange[0]}, wanted indices from 0 to {len(coordinates) - 1}")
    figure = Figure(figsize=(3.6, 3.6), layout="constrained")
    axes: Any = figure.subplots()
    axes.set_aspect("equal")
    if title:
        axes.set_title(plain(title), fontsize=11)
    corners = coordinates[list(order)]
    if closed and len(order) > 2:
        (inside,) = axes.fill(*corners.T, color=_CHOSEN, alpha=0.08, linewidth=0)
        inside.set_gid("inside")
    following = [*order[1:], *(order[:1] if closed and len(order) > 2 else [])]
    for number, (start, end) in enumerate(zip(order, following, strict=False), start=1):
        arrow = axes.annotate(
            "",
            xy=tuple(coordinates[end]),
            xytext=tuple(coordinates[start]),
            arrowprops={"arrowstyle": "-|>", "color": _CHOSEN, "linewidth": 1.3, "shrinkA": 3, "shrinkB": 3},
        )
        arrow.arrow_patch.set_gid(f"step-{number}")
    chosen = set(order)
    colours = [_CHOSEN if index in chosen else _REST for index in range(len(coordinates))]
    axes.scatter(*coordinates.T, s=22, c=colours, zorder=3)
    if len(order):
        axes.scatter(*corners[:1].T, s=90, facecolors="none", edgecolors=[_CHOSEN], linewidths=1.3, zorder=3)
    middle = coordinates.mean(0)
    for index, point in enumerate(coordinates):
        # outwards where arrows meet, and away from the arrows otherwise
        right, up = (1 if (part >= 0) == (index in chosen) else -1 for part in point - middle)
        axes.annotate(
            str(index),
            tuple(point),
            xytext=(6 * right, 6 * up),
            textcoords="offset points",
            ha="left" if right > 0 else "right",
            va="bottom" if up > 0 else "top",
            fontsize=9,
            color=colours[index],
        )
    low, high = coordinates.min(0), coordinates.max(0)
    room = _ROOM * max(float((high - low).max()), 1e-9)
    axes.set_xlim(low[0] - room, high[0] + room)
    axes.set_ylim(low[1] - room, high[1] + room)
    axes.tick_params(labelsize=8, color=_REST, labelcolor=_REST)
    for side in axes.spines.values():
        side.set_color(_REST)
    return figure


def save_order(
    file: str | Path, points: Sequence[Sequence[float]], order: Sequence[int], *, closed: bool = False, title: str = ""
) -> None:
    """Draw and write; the name's end says whether PNG, SVG or PDF."""
    file = as_path(file)
    form = form_of(file)
    write_file(file, figure_bytes(draw_order(points, order, closed=closed, title=title), form))
