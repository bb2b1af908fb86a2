"""How a stream of tokens that is longer than the context is read: in windows, each of which begins where it must.

    stream               x0 x1 x2 x3 x4 x5 x6 x7         x0 is read, and not foreseen
    context 4, stride 4  x0 x1 x2 x3 -> x1 x2 x3 x4      x4 x5 x6    -> x5 x6 x7
    context 4, stride 2  x0 x1 x2 x3 -> x1 x2 x3 x4      x2 x3 x4 x5 -> x5 x6      x4 x5 x6 -> x7

A window has at most C inputs, and says what comes behind them. With a stride of C the first of a window is foreseen
from one token alone; with less, which is a sliding window, all but those of the first from more than C - stride. Where
a window begins depends on the position in the stream and nothing else, so that a text is as likely when it is scored as
when it is written.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Window(NamedTuple):
    """A part of a stream that is read at once."""

    first: int  # the first input
    end: int  # after the last; the last target stands here
    seen: int  # so many of its inputs have targets that the window before has said


def sliding_stride(context: int) -> int:
    """How far a sliding window moves: half of a context is read anew."""
    return context - context // 2


def windows(length: int, *, context: int, stride: int) -> Iterator[Window]:
    """The windows of a stream of `length` tokens. Each but the first is a target once."""
    last = length - 1  # which is no input
    for first in range(0, max(last - (context - stride), 1), stride):
        yield Window(first, min(first + context, last), context - stride if first else 0)


def window_begin(inputs: int, *, context: int, stride: int) -> int:
    """Where the window begins that says what comes behind so many tokens."""
    return max(-(-(inputs - context) // stride), 0) * stride
