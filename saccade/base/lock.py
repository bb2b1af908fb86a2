"""One at work in a folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from saccade.base.errors import InputError

try:
    import fcntl
except ImportError:  # no such thing on Windows: two at work in one folder are not noticed there
    fcntl = None


LOCK = ".saccade-lock"


@contextmanager
def locked(folder: Path, *, what: str = "training", wait: bool = False) -> Iterator[None]:
    """Hold a folder, which is made if need be. The system lets go of it when the process ends, however.

    If another process holds it, that is an `InputError`; or this one waits until it lets go.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o644)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}; choose another folder") from error
    try:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(f"{folder}: another {what} is at work there; choose another folder") from None
        yield
    finally:
        os.close(handle)
