"""Where a net that sees by glimpses looked: the path over the image, figure 3 of Mnih 2014."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.look.figure import figure_bytes, form_of
from saccade.look.maps import as_path, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TOO_NEAR = 0.08  # of the image's side: then two numbers could not be read
_FIRST, _LAST = (0.99, 0.75, 0.3), (0.85, 0.2, 0.05)  # from light to strong, glimpse by glimpse


def draw_path(image: bytes, path: NDArray[np.float32], *, size: float, title: str = "") -> "Figure":
    """The image with a numbered square for each glimpse, and a line from each to the next.

    `path` is `[glimpses, 2]`: x and y from -1 to 1. `size` is the side of a glimpse as a share of the image's.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second that only figures need
    from matplotlib.patches import Rectangle  # noqa: PLC0415
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    locations = np.asarray(path, dtype=np.float64)
    if locations.ndim != 2 or locations.shape[1] != 2 or not np.isfinite(locations).all():
        raise InputError(f"path: found shape {list(locations.shape)}, wanted [glimpses, 2], all finite")
    with Image.open(io.BytesIO(image)) as opened:
        pixels = np.asarray(opened.convert("RGB"))
    figure = Figure(figsize=(3.2, 3.4), layout="constrained")
    axes: Any = figure.subplots()
    axes.imshow(pixels, extent=(0, 1, 1, 0), interpolation="nearest")
    axes.set_axis_off()
    if title:
        axes.set_title(plain(title), fontsize=11)
    middles = (locations + 1) / 2
    axes.plot(middles[:, 0], middles[:, 1], color=_LAST, linewidth=1.2, alpha=0.8)
    for number, (x, y) in enumerate(middles):
        share = number / max(len(middles) - 1, 1)
        colour = tuple(a + (b - a) * share for a, b in zip(_FIRST, _LAST, strict=True))
        square = Rectangle((x - size / 2, y - size / 2), size, size, fill=False, edgecolor=colour, linewidth=1.5)
        square.set_gid(f"glimpse-{number + 1}")
        axes.add_patch(square)
    for (x, y), numbers in _labels(middles):
        label = axes.text(x, y, ", ".join(map(str, numbers)), color=_LAST, ha="center", va="center", fontsize=9)
        label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    axes.set_xlim(-size / 2, 1 + size / 2)
    axes.set_ylim(1 + size / 2, -size / 2)
    return figure


def _labels(middles: NDArray[np.float64]) -> list[tuple[NDArray[np.float64], list[int]]]:
    """Where to write which numbers: glimpses whose numbers would lie on each other share one label."""
    labels: list[tuple[NDArray[np.float64], list[int]]] = []
    for number, middle in enumerate(middles, start=1):
        near = next((numbers for location, numbers in labels if np.abs(location - middle).max() < _TOO_NEAR), None)
        if near is None:
            labels.append((middle, [number]))
        else:
            near.append(number)
    return labels


def save_path(file: str | Path, image: bytes, path: NDArray[np.float32], *, size: float, title: str = "") -> None:
    """Draw and write; the name's end says whether PNG, SVG or PDF."""
    file = as_path(file)
    form = form_of(file)
    write_file(file, figure_bytes(draw_path(image, path, size=size, title=title), form))
