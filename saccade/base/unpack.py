"""What is wanted of a folder and of the archives in it: copied to where its user says, within bounds.

Where a file goes is never said by the archive. Its path there is only what is asked about, links and devices are passed
over, and the bytes are counted as they come, whatever the archive says of itself.
"""

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Self

from saccade.base.compressed import Readable, Unpacked, is_packed, plain_path
from saccade.base.errors import InputError
from saccade.base.files import reason_of

Place = Callable[[PurePosixPath], str | None]

_ZIP, _TAR = (".zip",), (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_PIECE = 1 << 20  # bytes at a time
_DEPTH = 3  # folders within folders that are searched
_MOST_FILES = 200_000  # that are looked at in a folder


def is_archive(name: str) -> bool:
    """Whether a file of that name has others in it."""
    return name.lower().endswith((*_ZIP, *_TAR))


class UnwritableError(InputError):
    """There is no room for a copy; nothing is wrong with what is copied."""


class Unpacking:
    """Copies files into the folder `into`, each once, and of all of them at most so many bytes."""

    def __init__(self, into: Path, place: Place, *, most: int) -> None:
        """`place` says where a file goes, by its path in its folder or archive: a path within `into`, or None."""
        self.found: dict[str, str] = {}  # which file each place was filled from
        self._into = into
        self._place = place
        self._most = most
        self._left = most

    def folder(self, folder: Path, *, archives: Callable[[str], bool]) -> None:
        """Take what is wanted of a folder: first of what lies there, then of the archives whose names are right.

        A file that is packed by itself, as `train.en.gz`, is asked about by its name unpacked.
        """
        with _reading(folder):
            there = sorted(islice(_walk(folder, _DEPTH), _MOST_FILES + 1))
        if len(there) > _MOST_FILES:
            raise InputError(
                f"{folder}: more than {_MOST_FILES:,} files there; name the folder that has the set itself"
            )
        for path in there:
            if not is_archive(path.name) and self._target(path.relative_to(folder)) is not None:
                with _reading(path), path.open("rb") as file:
                    self._take(path.relative_to(folder), file, str(path))
        for path in there:
            if is_archive(path.name) and archives(path.name):
                self.archive(path)

    def archive(self, path: Path) -> None:
        """Take what is wanted of one archive."""
        with _reading(path):
            (self._zip if path.name.lower().endswith(_ZIP) else self._tar)(path)

    def _zip(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if not member.is_dir() and self._target(PurePosixPath(member.filename)) is not None:
                    with archive.open(member) as file:
                        self._take(PurePosixPath(member.filename), file, f"{path}: {member.filename}")

    def _tar(self, path: Path) -> None:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isreg() and (file := archive.extractfile(member)) is not None:
                    self._take(PurePosixPath(member.name), file, f"{path}: {member.name}")

    def _target(self, path: PurePath) -> str | None:
        """Where it goes; None if it is not wanted, or there already."""
        target = self._place(PurePosixPath(plain_path(Path(path))))
        return None if target in self.found else target

    def _take(self, path: PurePath, file: IO[bytes], where: str) -> None:
        target = self._target(path)
        if target is None:
            return
        start = file.read(4)
        reader: Readable = _Begun(start, file)
        if is_packed(start):
            reader = Unpacked(reader, where, start=start)
        with _Copy(self._into / target) as copy:
            while piece := reader.read(_PIECE):
                self._left -= len(piece)
                if self._left < 0:
                    raise InputError(f"{where}: more than {self._most >> 20:,} MB in all, which the set does not have")
                copy.write(piece)
        self.found[target] = where


class _Begun:
    """A file of which the first bytes have been read already."""

    def __init__(self, start: bytes, file: IO[bytes]) -> None:
        self._start = start
        self._file = file

    def read(self, most: int = -1) -> bytes:
        if not self._start:
            return self._file.read(most)
        size = len(self._start) if most < 0 else most
        part, self._start = self._start[:size], self._start[size:]
        return part


class _Copy:
    """A file that is written; what goes wrong there is an `InputError`, and not mistaken for a fault of the archive."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._telling():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb")

    def write(self, piece: bytes) -> None:
        with self._telling():
            self._file.write(piece)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        with self._telling():
            self._file.close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UnwritableError(f"{self._path} cannot be written: {reason_of(error, self._path)}") from error


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    """The files of a folder and of those in it; nothing that is hidden."""
    for one in folder.iterdir():
        if one.name.startswith("."):
            continue
        if one.is_file():
            yield one
        elif one.is_dir() and depth:
            yield from _walk(one, depth - 1)


# what Python's own readers of archives raise for one that is damaged, or packed in a way that they do not know
_DAMAGED = (
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        raise InputError(f"{path}: packed, and not whole ({error}); get it anew") from error
