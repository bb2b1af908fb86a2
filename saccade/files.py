"""Files that are never half there: written beside their place, then renamed into it."""

import errno
import os
import tempfile
from pathlib import Path

from saccade.errors import InputError


def write_file(path: Path, content: bytes) -> None:
    """Write `content` to `path`, whole or not at all. A file that stood there stays until the new one is on the disk.

    Raises `InputError` where the folder cannot be written to, or the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(beside).chmod(0o644)
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        remedy = "make room" if error.errno in {errno.ENOSPC, errno.EFBIG, errno.EDQUOT} else "choose another folder"
        raise InputError(f"{path} cannot be written: {error.strerror or error}; {remedy}") from error


def cache_folder() -> Path:
    """Where this user's caches are: `SACCADE_CACHE` if set, else where the system has them."""
    named = os.environ.get("SACCADE_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "saccade")


def remove_leftovers(folder: Path) -> None:
    """Delete what a killed process may have left beside the files that it was writing."""
    for path in folder.rglob(".*.????????"):
        path.unlink(missing_ok=True)


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text file, without their ends. Broken UTF-8 is refused, with its line."""
    return decode_lines(read_file(path), str(path))


def read_file(path: Path) -> bytes:
    """The bytes of a file, or an `InputError` that says why they cannot be had."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def decode_lines(content: bytes, name: str) -> list[str]:
    """The lines of UTF-8 text called `name`, cut at newlines alone, as other line-aligned tools do."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    texts: list[str] = []
    for number, line in enumerate(lines, start=1):
        try:
            texts.append(line.decode("utf-8").removesuffix("\r"))
        except UnicodeDecodeError as error:
            byte = line[error.start]
            raise InputError(
                f"{name}, line {number}: byte {error.start + 1} (0x{byte:02x}) is not UTF-8;"
                " convert the file, for example with iconv"
            ) from error
    return texts
