"""A process that counts what it does to the files below a folder, and is killed before one of these operations."""

import os
import pathlib
import signal
import sys
from collections.abc import Iterable
from typing import Any, NoReturn, Self

# Events of Python's audit hooks, each of them before the operation, and which of their arguments are paths.
_EVENTS = {
    "open": (0,),
    "os.chmod": (0,),
    "os.link": (0, 1),
    "os.listdir": (0,),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.scandir": (0,),
    "os.symlink": (0, 1),
    "os.truncate": (0,),
    "os.utime": (0,),
}


class Operations:
    """Counts. With `kill_at`, the process is gone before the operation of that number, from 1."""

    def __init__(self, folder: pathlib.Path, *, kill_at: int | None = None) -> None:
        self.done = 0
        self._folder, self._kill_at = os.path.realpath(folder), kill_at

    def watch(self) -> None:
        """From now on, in this process and for ever: a hook cannot be taken back."""
        self._replace_opening()
        sys.addaudithook(self._hear)

    def next(self) -> None:
        """One more is about to be done."""
        self.done += 1
        if self.done == self._kill_at:
            kill_self()

    def is_below(self, path: object) -> bool:
        """Whether a path, or what a descriptor leads to, is in the folder."""
        if isinstance(path, int):
            path = f"/proc/self/fd/{path}"
            name = os.readlink(path) if os.path.lexists(path) else ""  # noqa: PTH115 - a link that leads nowhere
        elif isinstance(path, str | bytes | os.PathLike):
            name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - as it is written: it may be a link
        else:
            return False
        return name == self._folder or name.startswith(self._folder + os.sep)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        indices = _EVENTS.get(event)
        if indices is not None and any(self.is_below(arguments[index]) for index in indices):
            self.next()

    def _replace_opening(self) -> None:
        """Let files be written in two halves, with a moment between them, and flushing to the disk be counted."""
        fdopen, fsync, path_open = os.fdopen, os.fsync, pathlib.Path.open

        def open_descriptor(descriptor: int, mode: str = "r", *rest: Any, **how: Any) -> Any:
            file = fdopen(descriptor, mode, *rest, **how)
            return Halves(file, self) if _writes(mode) and self.is_below(descriptor) else file

        def open_path(path: pathlib.Path, mode: str = "r", *rest: Any, **how: Any) -> Any:
            file = path_open(path, mode, *rest, **how)
            return Halves(file, self) if _writes(mode) and self.is_below(path) else file

        def flush_to_disk(descriptor: int) -> None:
            if self.is_below(descriptor):
                self.next()
            fsync(descriptor)

        os.fdopen, os.fsync, pathlib.Path.open = open_descriptor, flush_to_disk, open_path  # pyright: ignore[reportAttributeAccessIssue]


def _writes(mode: str) -> bool:
    return any(letter in mode for letter in "wax+")


class Halves:
    """A file that is open for writing; whatever is written reaches it in two halves."""

    def __init__(self, file: Any, operations: Operations) -> None:
        self._file, self._operations = file, operations

    def write(self, content: Any) -> int:
        middle = len(content) // 2
        for half in (content[:middle], content[middle:]):
            self._operations.next()
            self._file.write(half)
            self._file.flush()
        return len(content)

    def writelines(self, parts: Iterable[Any]) -> None:
        for part in parts:
            self.write(part)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def kill_self() -> NoReturn:
    """As the kernel does it when memory is short: at once, without a word."""
    while True:
        os.kill(os.getpid(), signal.SIGKILL)
