"""What an image encoder makes of images, computed once: a file that grows by whole rows, read through a memory map.

    rows.bin    the rows, one after the other
    rows.jsonl  what each row is of, a line each

A row counts when both files have it, so a process may be killed at any moment: what it had written stays, and the next
goes on behind it. The folder's name says which encoder, with which weights, at which size.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.base.files import read_file, remove_leftovers, write_file
from saccade.base.lock import locked

ROWS, INDEX = "rows.bin", "rows.jsonl"


class FeatureCache:
    """Rows of one shape and kind, each known by a key."""

    def __init__(self, folder: Path, *, shape: tuple[int, ...], kind: type[np.generic]) -> None:
        self.folder = folder
        self.shape = shape
        self.kind = np.dtype(kind)
        self._row_bytes = int(np.prod(shape)) * self.kind.itemsize

    def keys(self) -> list[str]:
        """What the rows are of, in their order."""
        rows, index = self.folder / ROWS, self.folder / INDEX
        if not (rows.exists() and index.exists()):
            return []
        keys: list[str] = []
        for line in read_file(index).split(b"\n"):
            try:
                keys.append(json.loads(line))
            except ValueError:
                break  # the end, or the line that a killed process was writing
        return keys[: rows.stat().st_size // self._row_bytes]

    def add(self, batches: Iterable[tuple[Sequence[str], NDArray[Any]]]) -> None:
        """Append rows, batch by batch: their keys, and the rows themselves."""
        with locked(self.folder, what="reading of images"):
            remove_leftovers(self.folder)
            whole = self.keys()
            write_file(self.folder / INDEX, "".join(f"{json.dumps(key)}\n" for key in whole).encode())
            try:
                with (self.folder / ROWS).open("ab") as rows, (self.folder / INDEX).open("ab") as index:
                    rows.truncate(len(whole) * self._row_bytes)
                    for keys, made in batches:
                        if made.shape != (len(keys), *self.shape):
                            raise ValueError(f"found rows {made.shape}, wanted {(len(keys), *self.shape)}")
                        rows.write(np.ascontiguousarray(made, dtype=self.kind).tobytes())
                        rows.flush()
                        index.write("".join(f"{json.dumps(key)}\n" for key in keys).encode())
                        index.flush()
            except OSError as error:
                raise InputError(
                    f"{self.folder} cannot be written: {error.strerror or error}; make room, or choose another folder"
                    " with data.cache=DIR"
                ) from error

    def rows(self) -> NDArray[Any]:
        """All rows, as a memory map: what is not looked at is not in memory."""
        count = len(self.keys())
        if count == 0:
            return np.empty((0, *self.shape), dtype=self.kind)
        return np.memmap(self.folder / ROWS, dtype=self.kind, mode="r", shape=(count, *self.shape))
