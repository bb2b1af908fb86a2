"""What the corpora of `saccade data make` have in common."""

import argparse
import sys
from collections.abc import Callable

from saccade.console.options import TakesOptions

MOST = 10_000_000  # pairs, images, stories: they are held in memory, to know what stood there before


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A whole number within these bounds, for `type=`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"found {text!r}, wanted a whole number") from None
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"found {number}, wanted {least} to {most}")
        return number

    return read


def add_size(parser: TakesOptions, name: str, usual: int, what: str) -> None:
    """Add an option that says how much is made."""
    parser.add_argument(name, type=whole_number(1, MOST), default=usual, metavar="N", help=f"{what} ({usual})")


def progress() -> Callable[[int, int], None] | None:
    """What is told how many are done, of how many; None where nobody would see it."""
    return _show if sys.stderr.isatty() else None


def _show(done: int, total: int) -> None:
    if done == total or done % 1000 == 0:
        print(f"\r{done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)
