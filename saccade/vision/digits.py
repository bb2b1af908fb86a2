"""Made digits: written by the package in a font that matplotlib ships, turned and moved a little each time."""

import random
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from saccade.vision.labelled import LabelledImages

_FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSerif.ttf", "DejaVuSansMono.ttf", "DejaVuSerif-Italic.ttf")
_MOST_TURN = 15  # degrees
_ROOM = 2  # drawn so many times larger than needed, so that nothing is cut off in turning


def make_digits(count: int, *, seed: int | str, side: int = 28) -> LabelledImages:
    """White digits on black, `side` x `side`; the same for the same seed."""
    labels = np.empty(count, dtype=np.int64)
    pixels = np.empty((count, side, side, 3), dtype=np.uint8)
    for number in range(count):
        rng = random.Random(f"digit {seed} {number}")
        labels[number] = rng.randrange(10)
        pixels[number] = draw_digit(rng, int(labels[number]), side)[..., None]
    return LabelledImages(pixels, labels, [str(digit) for digit in range(10)])


def draw_digit(rng: random.Random, digit: int, side: int) -> NDArray[np.uint8]:
    """One digit as people might write it, `[side, side]`."""
    size = round(side * rng.uniform(0.65, 0.95))
    large = Image.new("L", (side * _ROOM, side * _ROOM))
    middle = side * _ROOM / 2
    center = (middle + side * rng.uniform(-0.08, 0.08), middle + side * rng.uniform(-0.08, 0.08))
    ImageDraw.Draw(large).text(center, str(digit), fill=255, font=_font(rng.choice(_FONTS), size), anchor="mm")
    turned = large.rotate(rng.uniform(-_MOST_TURN, _MOST_TURN), Image.Resampling.BICUBIC)
    edge = (side * _ROOM - side) // 2
    return np.asarray(turned.crop((edge, edge, edge + side, edge + side)), dtype=np.uint8)


@cache
def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    import matplotlib as mpl  # noqa: PLC0415 - slow to import, and few want digits

    return ImageFont.truetype(Path(mpl.get_data_path()) / "fonts" / "ttf" / name, size)
