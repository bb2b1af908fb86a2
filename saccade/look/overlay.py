"""What was looked at on an image, word by word: figure 2 of Xu 2015."""

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from saccade.base.errors import InputError
from saccade.look.maps import AttentionMap, Grid, plain, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACROSS = 6  # pictures in a row
_INCHES = 1.7  # of a picture
_DARKEST = 0.75  # how dark it is where nobody looked


def draw_overlay(
    attention: AttentionMap,
    *,
    layer: int | None = None,
    head: int | None = None,
    smooth: bool = True,
    title: str | None = None,
) -> "Figure":
    """The image once for each word, bright where the word looked, from the most of each word down.

    `smooth` blends from region to region; without it the grid is seen as it is. The mean over layers and heads, or
    those that are chosen, counted from 0.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second that only figures need

    grid = attention.columns
    if not isinstance(grid, Grid) or grid.image is None:
        raise InputError("columns: found no image, wanted a Grid with the image that was looked at")
    picture = _read(grid.image)
    weights = attention.matrix(layer=layer, head=head)
    across = min(_ACROSS, len(attention.rows))
    down = math.ceil(len(attention.rows) / across)
    ratio = picture.shape[0] / picture.shape[1]
    aspect = ratio * grid.width / grid.height  # the axes count regions; the picture keeps its proportions
    figure = Figure(figsize=(across * _INCHES, down * (_INCHES * ratio + 0.3)), layout="constrained")
    axes: Any = figure.subplots(down, across, squeeze=False)
    for index, one in enumerate(axes.flat):
        one.set_axis_off()
        if index >= len(attention.rows):
            continue
        one.set_title(plain(shown(attention.rows[index])), fontsize=10)
        one.imshow(picture, extent=(0, grid.width, grid.height, 0), aspect=aspect)
        shade = np.zeros((grid.height, grid.width, 4))
        looked = weights[index].reshape(grid.height, grid.width)
        shade[..., 3] = _DARKEST * (1 - looked / max(float(looked.max()), 1e-9))
        how = "bilinear" if smooth else "nearest"
        drawn = one.imshow(shade, extent=(0, grid.width, grid.height, 0), aspect=aspect, interpolation=how)
        drawn.set_gid(f"word-{index}")
        one.set_xlim(0, grid.width)
        one.set_ylim(grid.height, 0)
    if title:
        figure.suptitle(plain(title), fontsize=11)
    return figure


def _read(content: bytes) -> np.ndarray:
    try:
        with Image.open(io.BytesIO(content)) as image:
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError):
        raise InputError("columns: the image of the grid cannot be read; wanted a PNG or JPEG file's bytes") from None
