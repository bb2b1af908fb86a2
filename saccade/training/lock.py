"""One training a folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from saccade.base.errors import InputError

try:
    import fcntl
except ImportError:  # no such thing on Windows: two trainings in one folder are not noticed there
    fcntl = None


LOCK = ".saccade-lock"


@contextmanager
def locked(run: Path, *, what: str = "training") -> Iterator[None]:
    """Hold the folder `run`, which is made if need be. The system lets go of it when the process ends, however."""
    try:
        run.mkdir(parents=True, exist_ok=True)
        handle = os.open(run / LOCK, os.O_CREAT | os.O_RDWR, 0o644)
    except OSError as error:
        raise InputError(f"{run} cannot be written: {error.strerror or error}; choose another folder") from error
    try:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(f"{run}: another {what} is at work there; choose another folder") from None
        yield
    finally:
        os.close(handle)
