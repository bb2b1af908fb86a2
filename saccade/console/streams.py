"""Lines as they come, from a file or a pipe: what has arrived is given out when input pauses or enough is there.

Each line is given out once, in its order, with its number; one that cannot be read as text comes as an error, so that
it can have a record of its own and stops nothing. Memory is bounded, whatever is piped in.
"""

import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from rich.console import Console
from rich.progress import Progress

from saccade.base.compressed import Unpacked, is_packed
from saccade.base.errors import InputError
from saccade.base.files import decode_line

_AT_ONCE = 1 << 16  # bytes of one reading
_LONGEST = 1 << 20  # bytes of a line
_MOST_WAITING = 4 << 20  # bytes of lines that are given out together
_LARGEST = 16  # batches that are given out together, at most


class Line(NamedTuple):
    """A line without its end, or why it cannot be had."""

    number: int  # from 1
    where: str  # for messages
    text: str
    error: InputError | None = None

    @property
    def is_blank(self) -> bool:
        return self.error is None and not self.text.strip()


class Incoming:
    """The lines of a file, or of standard input if it is called `-`."""

    def __init__(self, name: str) -> None:
        self.name = "standard input" if name == "-" else name
        self._file = _open(name)
        self.size = _size(self._file)  # in bytes, if that is known
        self.taken = 0  # bytes so far
        self._read: Callable[[int], bytes] = self._file.read
        self._pauses = os.name == "posix" and not isinstance(self._file, io.BytesIO | io.BufferedIOBase)
        self._rest, self._too_long, self._number = b"", False, 0

    def chunks(self, batch_size: int) -> Iterator[list[Line]]:
        """Lines that have arrived: at first a batch of them at the most, so that something is seen soon; then more."""
        most, ended = batch_size, False
        waiting: list[Line] = []
        with self._file:
            while not ended or waiting:
                while not ended and len(waiting) < most and sum(len(line.text) for line in waiting) < _MOST_WAITING:
                    if waiting and not self._has_come():
                        break
                    data = self._next()
                    ended = not data
                    waiting += self._cut(data)
                if waiting:
                    yield waiting[:most]
                    del waiting[:most]
                    most = min(2 * most, _LARGEST * batch_size)

    def _next(self) -> bytes:
        """What comes next, unpacked if it is packed; nothing at the end."""
        try:
            data = self._read(_AT_ONCE)
            if not self.taken and is_packed(data):
                self._read, self._pauses = Unpacked(_Again(data, self._file), self.name, start=data[:4]).read, False
                self.size, data = None, self._read(_AT_ONCE)
        except OSError as error:
            raise InputError(f"{self.name} cannot be read: {error.strerror or error}") from error
        self.taken += len(data)
        return data

    def _has_come(self) -> bool:
        """Whether there is something to read without waiting; a file always has, if only its end."""
        return not self._pauses or bool(select.select([self._file], [], [], 0)[0])

    def _cut(self, data: bytes) -> Iterator[Line]:
        """The lines that end in `data`, which is empty at the end of all."""
        *whole, rest = (self._rest + data).split(b"\n")
        for line in whole:
            yield self._line(line)
        self._rest = rest
        if not data and (rest or self._too_long):
            self._rest = b""
            yield self._line(rest)
        elif len(rest) > _LONGEST:  # forget it as it comes
            self._rest, self._too_long = b"", True

    def _line(self, content: bytes) -> Line:
        self._number += 1
        where = f"{self.name}, line {self._number}"
        if self._number == 1:
            content = content.removeprefix(b"\xef\xbb\xbf")
        if self._too_long or len(content) > _LONGEST:
            self._too_long = False
            return Line(self._number, where, "", InputError(f"{where}: more than {_LONGEST:,} bytes; split the line"))
        try:
            return Line(self._number, where, decode_line(content, where))
        except InputError as error:
            return Line(self._number, where, "", error)


class Given:
    """Lines that are there already, as those of a file with a form of its own."""

    def __init__(self, name: str, texts: Sequence[tuple[str, str]]) -> None:
        """Each text comes with what it is called in messages."""
        self.name = name
        self.size = len(texts)
        self.taken = 0
        self._lines = [Line(number, where, text) for number, (where, text) in enumerate(texts, start=1)]

    def chunks(self, batch_size: int) -> Iterator[list[Line]]:
        """A batch of them at a time."""
        for first in range(0, self.size, batch_size):
            lines = self._lines[first : first + batch_size]
            self.taken += len(lines)
            yield lines


class _Again:
    """A stream with what was read of it already before the rest."""

    def __init__(self, start: bytes, file: IO[bytes]) -> None:
        self._start, self._file = start, file

    def read(self, most: int = -1, /) -> bytes:
        start, self._start = (self._start, b"") if most < 0 else (self._start[:most], self._start[most:])
        return start or self._file.read(most)


def _open(name: str) -> IO[bytes]:
    """Without a buffer, which would hide what has come."""
    if name == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file, or pipe something in")
        try:
            return os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
        except io.UnsupportedOperation:  # of notebooks and tests, which put something of their own there
            return sys.stdin.buffer
    try:
        return Path(name).open("rb", buffering=0)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from error


def _size(file: IO[bytes]) -> int | None:
    try:
        about = os.fstat(file.fileno())
    except (OSError, io.UnsupportedOperation):
        return None
    return about.st_size if stat.S_ISREG(about.st_mode) else None


@contextmanager
def progress_of(incoming: Incoming | Given, what: str) -> Iterator[Callable[[], None]]:
    """A bar on the terminal, unless that is where lines come from or go to; gives what to call when there is more."""
    console = Console(stderr=True)
    typed = sys.stdin is not None and sys.stdin.isatty() and incoming.size is None
    hidden = not console.is_terminal or typed or sys.stdout.isatty()
    with Progress(console=console, transient=True, disable=hidden) as progress:
        bar = progress.add_task(what, total=incoming.size)
        yield lambda: progress.update(bar, total=incoming.size, completed=incoming.taken)
