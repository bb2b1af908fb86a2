"""What the commands' parsers have in common."""

import argparse
import io
import sys
from typing import Any, NoReturn

from saccade.base.errors import InputError, one_line


class Parser(argparse.ArgumentParser):
    """argparse, but a mistake gets one line, as all bad input does, and not the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {one_line(message)}; see {self.prog} --help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """As argparse does it, but what cannot be written is not taken for written."""
        (file or sys.stderr).write(message)


def count(text: str) -> int:
    """A whole number of at least 1, for `type=`."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a whole number") from None
    if number < 1:
        raise argparse.ArgumentTypeError(f"found {number}, wanted at least 1")
    return number


def speak_utf8() -> None:
    """Write UTF-8 whatever the terminal says: translations go into files and pipes. Names of files stay as they are."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def expect_text(text: str, name: str) -> None:
    """Raise unless what was typed is text: Python keeps bytes that are not UTF-8 as halves of characters."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{name}: not UTF-8, from letter {error.start + 1} on; convert it, for example with iconv"
        ) from None
