"""A public data set by its name: what it is, where it lies, how it is known to be whole, and what it leaves.

Each task has its own in its `public.py`, and hands them over in its `TaskKind`.
"""

import contextlib
import fnmatch
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from saccade.base.counts import counted
from saccade.base.download import DownloadError, download
from saccade.base.errors import InputError
from saccade.base.files import make_folder, reason_of
from saccade.base.lock import locked
from saccade.base.unpack import Place, Unpacking, UnwritableError, is_archive

_WORK = ".getting"  # a folder in the set's own, gone when the set is whole
_SPARE = 4  # a download may be so many times as large as the table says

Show = Callable[[str, int, int | None], None]  # of what, how many bytes there are, of how many


@dataclass(frozen=True)
class Published:
    """A file as it lies at its address."""

    address: str
    sha256: str | None = None  # of an archive as it is, of any other file unpacked; None: no checksum is known
    named: str | None = None  # what the set calls it, if not as the address does

    @property
    def name(self) -> str:
        """An archive's own name, or that of the file that it becomes."""
        if self.named is not None:
            return self.named
        last = self.address.rsplit("/", 1)[-1]
        return last if is_archive(last) else last.removesuffix(".gz")


def nothing_to_do(folder: Path) -> None:
    """The files are in the form that recipes take."""


@dataclass(frozen=True, kw_only=True)
class PublicSet:
    """One data set.

    What is wanted is taken from a folder of the user's, or from one with what was fetched, in the same way: whatever
    `place` knows by its path, as it lies there, packed by itself or in an archive whose name fits `archives`. Then
    `finish` brings it into the form that recipes take, and `check` says what it is.
    """

    name: str
    about: str  # what it is, in a few words
    rights: str
    page: str  # where a person finds it
    files: Sequence[Published]
    megabytes: int  # to be fetched, about
    most_megabytes: int  # unpacked, at most
    place: Place | None = None  # where a file goes in the set's folder; None: the files by their own names
    archives: Sequence[str] = ()  # patterns of names, besides those of the files
    finish: Callable[[Path], None] = nothing_to_do
    check: Callable[[Path], str] | None = None  # raise unless all is there, and say what that is

    @property
    def has_checksums(self) -> bool:
        return all(file.sha256 is not None for file in self.files)


def get_public_set(
    chosen: PublicSet,
    out: Path,
    *,
    source: Path | None = None,
    show: Show = lambda what, done, total: None,
) -> str:
    """Put a set into the folder `out`, from the network or from the folder `source`; gives what there is, in words.

    A file has its name there only when it is whole and checked. What is there already is left alone, and a download
    that was broken off goes on.
    """
    if source is not None and not source.is_dir():
        raise InputError(f"{source}: no such folder; wanted with --from the one that has {chosen.name}")
    work = out / _WORK
    make_folder(work)
    with locked(work, what="saccade data get"):
        try:
            return _get(chosen, out, source, show)
        except OSError as error:
            raise InputError(f"{out} cannot be written: {reason_of(error, out)}") from error
        finally:
            shutil.rmtree(work / "unpacked", ignore_errors=True)
            _tidy(out)


def brought_by(path: str | Path, public: Iterable[PublicSet]) -> str:
    """What to add to a message that a file is not there: which set would have brought it, if one would."""
    names = [one.name for one in public if Path("data", one.name) in (Path(path), *Path(path).parents)]
    return f" (saccade data get {names[0]} brings it)" if names else ""


def _get(chosen: PublicSet, out: Path, source: Path | None, show: Show) -> str:
    missing = chosen.files
    if chosen.check is None:
        missing = [file for file in chosen.files if _digest(out / file.name) != file.sha256]
    elif (there := _there_already(chosen.check, out)) is not None:
        return f"{there}; they were there"
    downloads, unpacked = out / _WORK / "downloads", out / _WORK / "unpacked"
    folder = _fetch(chosen, missing, downloads, show) if source is None else source
    shutil.rmtree(unpacked, ignore_errors=True)  # of one that was killed
    unpacked.mkdir()
    try:
        said = _unpack(chosen, missing, folder, unpacked) if missing else _as_published(chosen)
    except UnwritableError:
        raise
    except InputError:  # what was fetched is of no use
        shutil.rmtree(downloads, ignore_errors=True)
        raise
    _move(unpacked, out)
    shutil.rmtree(downloads, ignore_errors=True)
    return said


def _as_published(chosen: PublicSet) -> str:
    return f"{counted(len(chosen.files), 'file')}, as published"


def _there_already(check: Callable[[Path], str], out: Path) -> str | None:
    try:
        return check(out)
    except InputError:
        return None


def _fetch(chosen: PublicSet, files: Iterable[Published], folder: Path, show: Show) -> Path:
    """The folder with what was fetched."""
    make_folder(folder)
    for file in files:
        path = folder / file.name
        if path.exists():
            continue
        try:
            download(file.address, path, most=_SPARE * chosen.megabytes << 20, show=partial(show, file.address))
        except DownloadError as error:
            by_hand = f"or get it by hand, {chosen.page}, and name its folder: --from DIR"
            raise InputError(f"{error}; {by_hand}") from None
    return folder


def _unpack(chosen: PublicSet, files: Sequence[Published], folder: Path, into: Path) -> str:
    """Put what is wanted of a folder into another, and say what it is; raise if it is not what it should be."""
    names = [file.name for file in files]
    archives = [file for file in files if is_archive(file.name)]
    known = [f"{folder / file.name}: " for file in archives if _is_published(chosen, folder / file.name, file)]
    unpacking = Unpacking(into, chosen.place or _by_name(names), most=chosen.most_megabytes << 20)
    patterns = [*names, *chosen.archives]
    unpacking.folder(folder, archives=lambda name: any(fnmatch.fnmatch(name, pattern) for pattern in patterns))
    if chosen.check is None:
        _expect_all(chosen, names, unpacking, folder)
        for file in files:
            _is_published(chosen, into / file.name, file)
        return _as_published(chosen)
    if not unpacking.found:
        what = "it" if len(names) == 1 else "them"
        raise InputError(
            f"{folder}: nothing of {chosen.name} there; wanted {' and '.join(names)}, or what is in {what}:"
            f" {chosen.page}"
        )
    chosen.finish(into)
    exact = all(where.startswith(tuple(known)) for where in unpacking.found.values())
    how = "as published" if exact else "no checksum is known: form and number are as they should be"
    return f"{chosen.check(into)}; {how}"


def _expect_all(chosen: PublicSet, names: Sequence[str], unpacking: Unpacking, folder: Path) -> None:
    missing = [name for name in names if name not in unpacking.found]
    if missing:
        raise InputError(
            f"{folder}: no file {missing[0]} there, packed or not; name the folder that has {chosen.name}: --from DIR"
        )


def _by_name(names: Sequence[str]) -> Place:
    return lambda path: path.name if path.name in names else None


def _is_published(chosen: PublicSet, path: Path, file: Published) -> bool:
    """Whether a file is there that is known to be the one that is meant; raise if it is another."""
    if file.sha256 is None or not path.is_file():
        return False
    if _digest(path) != file.sha256:
        raise InputError(
            f"{path.name}: not the file of {chosen.name} that is meant, for its SHA-256 is another; get it anew:"
            f" {chosen.page}"
        )
    return True


def _digest(path: Path) -> str | None:
    """The SHA-256 of a file; None where there is none."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _move(unpacked: Path, out: Path) -> None:
    """Give all files and folders their names, when what is in them is on the disk."""
    there = sorted(unpacked.iterdir())
    for one in there:
        if one.is_dir() and (out / one.name).exists():
            raise InputError(f"{out / one.name}: there already, and not whole; move it away, or choose another --out")
    if hasattr(os, "sync"):
        os.sync()
    for one in there:
        one.replace(out / one.name)


def _tidy(out: Path) -> None:
    """Remove what nobody needs: all but a download that can go on."""
    downloads = out / _WORK / "downloads"
    if not downloads.is_dir() or not any(downloads.iterdir()):
        shutil.rmtree(out / _WORK, ignore_errors=True)
    with contextlib.suppress(OSError):
        out.rmdir()  # if it is empty
