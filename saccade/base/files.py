"""Files: read within bounds, written whole or not at all, and nothing touched that is not meant.

What stands at a place is replaced only if it is a regular file. What is being written has a name that only saccade
gives, `.saccade-0123456789abcdef.tmp`, in the folder that it is for; a killed process may leave it there.
"""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from saccade.base.compressed import unpacked
from saccade.base.errors import InputError

_TEMPORARY = re.compile(r"\.saccade-[0-9a-f]{16}\.tmp")
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


def write_file(path: Path, *content: bytes | memoryview) -> None:
    """Write `content`, one part after the other, to `path`, whole or not at all.

    A file that stood there stays until the new one is on the disk. A link is followed. A device, a FIFO or what this
    process has for its output is written into. Raises `InputError` where the folder is not there or cannot be written
    to, or the disk is full.
    """
    try:
        if (stream := _stream(path)) is not None:
            with open(os.dup(stream) if isinstance(stream, int) else stream, "wb") as file:  # noqa: PTH123
                file.writelines(content)
        else:
            with _replacing(Path(os.path.realpath(path))) as file:
                file.writelines(content)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {reason_of(error, path)}") from error


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write piece by piece, and to seek in, that takes the place of `path` when all of it is written.

    Until then, and if anything goes wrong, what stood there stays. Raises `InputError` as `write_file` does.
    """
    try:
        with _replacing(Path(os.path.realpath(path))) as file:
            yield file
    except OSError as error:
        raise InputError(f"{path} cannot be written: {reason_of(error, path)}") from error


def expect_writable(path: Path) -> None:
    """Raise unless `write_file` can put a file there, as far as can be seen before the work is done."""
    try:
        folder = Path(os.path.realpath(path)).parent
        if path.is_dir():
            raise InputError(f"{path} cannot be written: it is a folder; name a file in it")
        if _stream(path) is None and not folder.is_dir():
            raise InputError(f"{path} cannot be written: there is no folder {folder}; make it first")
        if not os.access(path if path.exists() else folder, os.W_OK):
            raise InputError(f"{path} cannot be written: Permission denied; choose another place")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {reason_of(error, path)}") from error


def reason_of(error: OSError, path: Path) -> str:
    """Why `path` cannot be written, and what to do."""
    if error.errno in _FULL:
        return f"{error.strerror}; make room"
    if error.errno == errno.ENOENT:
        return f"there is no folder {path.parent}; make it first"
    if error.errno == errno.ENAMETOOLONG:
        return f"{error.strerror}; choose a shorter one"
    return f"{error.strerror or error}; choose another place"


def _stream(path: Path) -> Path | int | None:
    """What is there and is written into, not replaced: no regular file, or the one that the shell gave for our output.

    That one goes by its number, so that it is written to where we are in it.
    """
    try:
        there = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(there.st_mode):
        return path
    return next((number for number in (1, 2) if _same_file(number, there)), None)


def _same_file(descriptor: int, there: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), there)
    except OSError:  # it is closed
        return False


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    beside = path.parent / f".saccade-{secrets.token_hex(8)}.tmp"
    handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            if path.exists():
                beside.chmod(stat.S_IMODE(path.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def remove_leftovers(folder: Path) -> None:
    """Delete what a killed process left of the files that it was writing to this folder, and nothing else."""
    try:
        with os.scandir(folder) as entries:
            found = [one.path for one in entries if is_leftover(one.name) and one.is_file(follow_symlinks=False)]
        for path in found:
            Path(path).unlink(missing_ok=True)
    except FileNotFoundError:
        return


def is_leftover(name: str) -> bool:
    """Whether a file is called as only `write_file` calls what it has not finished."""
    return _TEMPORARY.fullmatch(name) is not None


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, unless they are there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or error}; choose another place") from error


def cache_folder() -> Path:
    """Where this user's caches are: `SACCADE_CACHE` if set, else where the system has them."""
    named = os.environ.get("SACCADE_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "saccade")


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text file, packed or not, without their ends. Broken UTF-8 is refused, with its line."""
    return decode_lines(read_text_file(path), str(path))


def read_text_file(path: Path) -> bytes:
    """The bytes of a user's file, unpacked if they are packed."""
    return unpacked(read_file(path), str(path))


def read_file(path: Path) -> bytes:
    """The bytes of a user's file or pipe, or an `InputError` that says why they cannot be had."""
    try:
        with path.open("rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty():
                raise InputError(f"{path} is a device without an end; wanted a file")
            return file.read()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def read_own(path: Path, *, most: int) -> bytes:
    """The bytes of a file that saccade wrote, in a model or a run: a regular file, and of at most `most` bytes."""
    with open_own(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > most:
            raise InputError(f"{path}: {size:,} bytes, wanted at most {most:,}; it is not one that saccade wrote")
        return file.read(size)


def open_own(path: Path) -> IO[bytes]:
    """Open such a file. What is no regular file, as a pipe that nobody writes to, is refused and not waited for."""
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InputError(f"{path}: not a regular file; it is not one that saccade wrote")
    return file


def decode_lines(content: bytes, name: str) -> list[str]:
    """The lines of UTF-8 text called `name`, cut at newlines alone, as other line-aligned tools do."""
    return [decode_line(line, f"{name}, line {number}") for number, line in enumerate(split_lines(content), start=1)]


def split_lines(content: bytes) -> list[bytes]:
    """The lines of a file without their ends, and without the mark that some programs begin a file with."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def decode_line(line: bytes, where: str) -> str:
    """One line of UTF-8, without its end; broken UTF-8 is an `InputError`."""
    try:
        return line.decode("utf-8").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise NotUTF8Error(where, error.start + 1, line[error.start]) from None


class NotUTF8Error(InputError):
    """A byte, with its number in its line from 1, that is no part of a text in UTF-8."""

    def __init__(self, where: str, number: int, byte: int) -> None:
        super().__init__(
            f"{where}: byte {number} (0x{byte:02x}) is not UTF-8; convert the file, for example with iconv"
        )
