"""The lines that a reader learns from: made of drawn digits, or of MNIST's."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from saccade.base.fingerprint import fingerprint
from saccade.tasks.line_reading.lines import Lines, make_lines
from saccade.tasks.line_reading.recipe import LineDataSettings
from saccade.vision import LabelledImages, make_digits, read_labelled

_DIGITS = 5000  # made ones, to make lines of


class LineSplits(NamedTuple):
    """Lines to learn from and to validate with."""

    train: Lines
    valid: Lines

    def fingerprint(self) -> str:
        """A short text that other lines do not have."""
        return fingerprint(one for part in self for one in (part.pixels.tobytes(), *part.texts))


def load_line_splits(
    settings: LineDataSettings, tell: Callable[[str], None] = lambda text: None, *, side: int
) -> LineSplits:
    """Make the lines, of digits of `side` x `side`; `tell` is told of images that cannot be read."""
    parts: list[Lines] = []
    for name, path, count in (
        ("train", settings.train, settings.lines),
        ("valid", settings.valid, settings.validation_size),
    ):
        seed = f"{name} {settings.seed}"
        digits = make_digits(_DIGITS, seed=seed, side=side) if path is None else _read(path, tell, side=side)
        parts.append(
            make_lines(count, digits, seed=seed, min_length=settings.min_length, max_length=settings.max_length)
        )
    return LineSplits(*parts)


def _read(path: str, tell: Callable[[str], None], *, side: int) -> LabelledImages:
    digits, bad = read_labelled(Path(path), side=side)
    if bad:
        tell(f"{path}: {len(bad):,} of {len(bad) + len(digits.labels):,} images are left out; {bad[0]}")
    return digits
