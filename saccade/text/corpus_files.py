"""The files of a corpus: one, or all in a folder that are called as they should be."""

import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from saccade.base.compressed import plain_path
from saccade.base.errors import InputError
from saccade.base.streamed import KnownFile
from saccade.text.records import LeftOut

NAMES = ("*.txt", "*.md")


def find_files(path: Path, names: Sequence[str], tell: Callable[[str], None]) -> list[KnownFile]:
    """The file, whatever it is called, or those in the folder and the folders in it that have one of the names.

    They come in the order of their paths. The names are patterns, for small letters and capitals alike, and without
    `.gz` and `.zst`. Hidden files and folders are passed over, and links to folders are not followed; what is left out
    is counted and told.
    """
    if not path.is_dir():
        return [KnownFile.of(path)]
    left_out = LeftOut("files and folders")
    found = [KnownFile.of(file) for file in _walk(path, path, names, left_out)]
    if not found:
        reason = f"; {left_out.describe(kept=0)}" if left_out.first is not None else ""
        raise InputError(f"{path}: no file called {' or '.join(names)} there; choose others with data.names{reason}")
    if left_out.first is not None:
        tell(f"{path}: {left_out.describe(kept=len(found))}")
    return found


def _walk(folder: Path, root: Path, names: Sequence[str], left_out: LeftOut) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror or error}") from error
    for entry in entries:
        path = folder / entry.name
        if entry.name.startswith("."):
            reason = "hidden"
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(path, root, names, left_out)
            continue
        elif entry.is_dir():
            reason = "linked folders"
        elif not _is_called(path, names):
            reason = f"with other names than {' and '.join(names)}"
        elif not entry.is_file():
            reason = "no regular files"
        else:
            yield path
            continue
        left_out.add(reason, str(path.relative_to(root)))


def _is_called(path: Path, names: Sequence[str]) -> bool:
    name = plain_path(path).name.lower()
    return any(fnmatchcase(name, pattern.lower()) for pattern in names)
