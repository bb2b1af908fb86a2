"""Pairs of sentences, and the files that hold them."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Pair(NamedTuple):
    """A sentence, and what it is to become."""

    source: str
    target: str


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """Write a TSV with the columns `source` and `target`; beside its place first, so that nobody sees half of it."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write("source\ttarget\n")
            file.writelines(f"{pair.source}\t{pair.target}\n" for pair in pairs)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
