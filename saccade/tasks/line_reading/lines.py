"""Lines of digits: several in a row, with random gaps, as one strip; from made digits or from MNIST's."""

import random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saccade.vision import LabelledImages


class Lines(NamedTuple):
    """Strips and what stands on them."""

    pixels: NDArray[np.uint8]  # [N, height, width], white on black
    texts: list[str]


def make_lines(
    count: int,
    digits: LabelledImages,
    *,
    seed: int | str,
    min_length: int = 2,
    max_length: int = 6,
    overlap: float = 0.15,
) -> Lines:
    """So many strips with `min_length` to `max_length` of the digits each; the same for the same seed.

    Digits stand as close as a share `overlap` of their side into each other, or apart, wherever there is room.
    """
    side = digits.pixels.shape[1]
    width = side * max_length
    grey = digits.pixels.max(-1)  # [N, side, side]
    strips = np.zeros((count, side, width), dtype=np.uint8)
    texts: list[str] = []
    for number in range(count):
        rng = random.Random(f"line {seed} {number}")
        chosen = [rng.randrange(len(grey)) for _ in range(rng.randint(min_length, max_length))]
        closest = round(side * (1 - overlap))  # from the left of one digit to that of the next
        room = width - side - closest * (len(chosen) - 1)
        cuts = sorted(rng.randint(0, room) for _ in chosen)
        for index, digit in enumerate(chosen):
            left = cuts[index] + closest * index
            part = strips[number, :, left : left + side]
            np.maximum(part, grey[digit], out=part)
        texts.append("".join(digits.classes[digits.labels[digit]] for digit in chosen))
    return Lines(strips, texts)
