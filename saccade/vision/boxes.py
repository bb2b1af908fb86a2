"""Where on an image the things are that a caption names."""

from typing import NamedTuple


class Box(NamedTuple):
    """A part of an image, in shares of its sides, from 0 to 1."""

    left: float
    top: float
    right: float
    bottom: float

    def contains(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.top <= y <= self.bottom


class Noun(NamedTuple):
    """A word of a caption that names a thing, and where that thing is."""

    word: int  # its place among the words, from 0; punctuation is no word
    box: Box
