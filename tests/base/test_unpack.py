"""What is wanted of folders and archives, and nothing of what is not: no path that leads out, no more than is meant."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from saccade.base import unpack
from saccade.base.errors import InputError
from saccade.base.unpack import Unpacking, is_archive

FILES = {"set/en/a.txt": b"one\n", "set/en/b.txt": b"two\n" * 50, "set/README": b"not wanted"}


def write_tar(path: Path, mode: str) -> None:
    with tarfile.open(path, mode) as archive:  # pyright: ignore[reportArgumentType, reportCallIssue]
        for name, content in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)


def write_folder(path: Path) -> None:
    for name, content in FILES.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)


def write_packed(path: Path) -> None:
    write_folder(path)
    (path / "set/en/a.txt").unlink()
    (path / "set/en/a.txt.gz").write_bytes(gzip.compress(FILES["set/en/a.txt"]))


FORMS: dict[str, Callable[[Path], None]] = {
    "folder": write_folder,
    "packed": write_packed,
    "zip": lambda folder: write_zip(folder / "set.zip"),
    "tar": lambda folder: write_tar(folder / "set.tar", "w"),
    "tgz": lambda folder: write_tar(folder / "set.tgz", "w:gz"),
    "tar.xz": lambda folder: write_tar(folder / "set.tar.xz", "w:xz"),
    "tar.bz2": lambda folder: write_tar(folder / "set.tar.bz2", "w:bz2"),
}


def place(path: PurePosixPath) -> str | None:
    return f"english/{path.name}" if path.parent.name == "en" and path.suffix == ".txt" else None


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_comes_of_a_folder_and_of_every_archive(form: str, tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    FORMS[form](there)
    unpacking = Unpacking(here, place, most=1000)
    unpacking.folder(there, archives=lambda name: name.startswith("set"))
    assert contents(here) == {"english/a.txt": b"one\n", "english/b.txt": b"two\n" * 50}
    assert unpacking.found.keys() == {"english/a.txt", "english/b.txt"}


def test_archives_that_nobody_asked_for_are_not_opened(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "other.zip").write_bytes(b"no archive at all")
    unpacking = Unpacking(tmp_path / "here", place, most=1000)
    unpacking.folder(tmp_path / "there", archives=lambda name: name == "set.zip")
    assert not unpacking.found
    assert is_archive("A.TAR.GZ")
    assert not is_archive("a.txt.gz")


def test_an_archive_does_not_say_where_its_files_go(tmp_path: Path) -> None:
    """Neither a path that leads out, nor a link, nor a device; a place is one of our own."""
    path = tmp_path / "set.tar"
    with tarfile.open(path, "w") as archive:
        for name in ("../../en/out.txt", "/en/root.txt", "set/en/good.txt"):
            member = tarfile.TarInfo(name)
            member.size = 3
            archive.addfile(member, io.BytesIO(b"abc"))
        for name, kind in (("en/link.txt", tarfile.SYMTYPE), ("en/hard.txt", tarfile.LNKTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        member = tarfile.TarInfo("en/fifo.txt")
        member.type = tarfile.FIFOTYPE
        archive.addfile(member)
    here = tmp_path / "a" / "here"
    Unpacking(here, place, most=1000).archive(path)
    assert contents(tmp_path).keys() == {
        "set.tar",
        "a/here/english/good.txt",
        "a/here/english/out.txt",
        "a/here/english/root.txt",
    }


def test_a_folder_of_everything_is_not_gone_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path / "there")
    monkeypatch.setattr(unpack, "_MOST_FILES", 2)
    with pytest.raises(InputError, match="there: more than 2 files there; name the folder that has the set itself"):
        Unpacking(tmp_path / "here", place, most=1000).folder(tmp_path / "there", archives=lambda name: True)
    deep = tmp_path / "deep" / "1" / "2" / "3" / "en"
    write_folder(deep)
    unpacking = Unpacking(tmp_path / "here", place, most=1000)
    unpacking.folder(tmp_path / "deep", archives=lambda name: True)
    assert not unpacking.found


@pytest.mark.parametrize("form", ["zip", "tgz", "packed"])
def test_more_bytes_than_the_set_has_are_refused_as_they_come(form: str, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    bomb = bytes(5 << 20)
    if form == "zip":
        with zipfile.ZipFile(there / "set.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("en/a.txt", bomb)
    elif form == "tgz":
        with tarfile.open(there / "set.tgz", "w:gz") as archive:
            member = tarfile.TarInfo("en/a.txt")
            member.size = len(bomb)
            archive.addfile(member, io.BytesIO(bomb))
    else:
        (there / "en").mkdir()
        (there / "en" / "a.txt.gz").write_bytes(gzip.compress(bomb))
    unpacking = Unpacking(tmp_path / "here", place, most=3 << 20)
    with pytest.raises(InputError, match=r"a\.txt.*: more than 3 MB in all, which the set does not have"):
        unpacking.folder(there, archives=lambda name: True)
    assert (tmp_path / "here" / "english" / "a.txt").stat().st_size <= 3 << 20


@pytest.mark.parametrize("form", ["zip", "tgz", "tar.xz", "tar.bz2"])
def test_half_an_archive_is_said_to_be_half(form: str, tmp_path: Path) -> None:
    FORMS[form](tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match=rf"set\.{form}.*: packed, and not whole \(.*\); get it anew"):
        Unpacking(tmp_path / "here", place, most=1000).archive(path)


def test_a_file_that_cannot_be_written_is_not_mistaken_for_a_bad_archive(tmp_path: Path) -> None:
    write_zip(tmp_path / "set.zip")
    (tmp_path / "here").write_text("a file")
    with pytest.raises(InputError, match="cannot be written: Not a directory"):
        Unpacking(tmp_path / "here", place, most=1000).archive(tmp_path / "set.zip")
