"""A user's text files, piece by piece: one of any size takes little memory. They may be packed."""

import codecs
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from saccade.base.compressed import Readable, Unpacked, is_packed
from saccade.base.errors import InputError
from saccade.base.files import NotUTF8Error

_AT_ONCE = 1 << 18  # bytes of one reading
_LONGEST = 64 << 20  # bytes of a line, which is in memory as a whole


class KnownFile(NamedTuple):
    """A file as it was when it was first looked at."""

    path: Path
    size: int  # in bytes
    changed: int  # when, in nanoseconds

    @classmethod
    def of(cls, path: Path) -> "KnownFile":
        """What is there now; only a regular file can be read again and again."""
        try:
            about = path.stat()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"{path}: not a regular file, and it is read more than once; save it as one")
        return cls(path, about.st_size, about.st_mtime_ns)


@contextmanager
def open_text_file(known: KnownFile) -> Iterator[Readable]:
    """What the file holds, unpacked if it is packed. One that is no longer as it was is an `InputError`."""
    try:
        with known.path.open("rb") as file:
            about = os.fstat(file.fileno())
            if (about.st_size, about.st_mtime_ns) != known[1:]:
                raise InputError(f"{known.path} was changed while it was being read; begin again")
            start = file.peek(4)[:4]
            yield Unpacked(file, str(known.path), start=start) if is_packed(start) else file
    except OSError as error:
        raise InputError(f"{known.path} cannot be read: {error.strerror or error}") from error


def read_pieces(known: KnownFile) -> Iterator[str]:
    """The text of a UTF-8 file, in pieces that end anywhere. Broken UTF-8 is an `InputError` with its line."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()  # it passes over the mark that some files begin with
    line, column = 1, 0  # of what comes next; a column is a byte's
    with open_text_file(known) as file:
        ended = False
        while not ended:
            data = file.read(_AT_ONCE)
            ended = not data
            try:
                text = decoder.decode(data, final=ended)
            except UnicodeDecodeError as error:
                before = error.object[: error.start]
                number = line + before.count(b"\n")
                within = len(before) - before.rfind(b"\n") + (0 if b"\n" in before else column)
                raise NotUTF8Error(f"{known.path}, line {number}", within, error.object[error.start]) from None
            line += text.count("\n")
            column = len(text[text.rfind("\n") + 1 :].encode()) + (0 if "\n" in text else column)
            if text:
                yield text


def stream_lines(known: KnownFile) -> Iterator[bytes]:
    """The lines of a file without their ends, not decoded yet: one may be bad and the others good."""
    rest, number, ended = b"", 0, False
    with open_text_file(known) as file:
        while not ended:
            data = file.read(_AT_ONCE)
            ended = not data
            lines = (rest + data).split(b"\n")
            if number == 0 and (ended or len(lines) > 1):
                lines[0] = lines[0].removeprefix(codecs.BOM_UTF8)
            *whole, rest = lines
            for line in lines if ended and rest else whole:
                number += 1
                yield line
            if len(rest) > _LONGEST:
                where = f"{known.path}, line {number + 1}"
                raise InputError(
                    f"{where}: more than {_LONGEST >> 20} MB in a line; split it, or save it as plain text"
                )
