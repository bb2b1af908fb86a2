"""Public sets by name: fetched or taken from a folder, checked either way, and never there by half."""

import gzip
import hashlib
import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from saccade.base.errors import InputError
from saccade.base.lock import locked
from saccade.cli.main import main
from saccade.tasks.kind import all_kinds
from saccade.tasks.public_set import PublicSet, Published, brought_by, get_public_set
from saccade.tasks.translation.kind import KIND
from tests.files_server import FilesServer, files_server

TEXTS = {"train.en": b"a dog\n", "train.de": b"ein Hund\n"}
SETS = {one.name: one for kind in all_kinds() for one in kind.public}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def check_stories(folder: Path) -> str:
    found = sorted(path.name for path in (folder / "tales").glob("*"))
    if found != ["1.txt", "2.txt"]:
        raise InputError(f"tales: found {found}")
    return f"{len(found)} tales"


def upper(folder: Path) -> None:
    for path in (folder / "tales").glob("*"):
        path.write_text(path.read_text().upper())


def place(path: PurePosixPath) -> str | None:
    return f"tales/{path.name}" if path.suffix == ".txt" else None


@pytest.fixture
def server() -> Iterator[FilesServer]:
    with files_server() as server:
        server.files = {f"{name}.gz": gzip.compress(content) for name, content in TEXTS.items()}
        server.files["tales.zip"] = zipped({"a/1.txt": b"one", "a/2.txt": b"two", "a/NOTES": b"no tale"})
        yield server


def files_set(server: FilesServer) -> PublicSet:
    """A set of single files, as Multi30k."""
    return PublicSet(
        name="small",
        about="a dog",
        rights="none",
        page="https://example.com/small",
        files=[Published(f"{server.address}{name}.gz", sha256(text)) for name, text in TEXTS.items()],
        megabytes=1,
        most_megabytes=1,
    )


def archive_set(server: FilesServer, *, known: bool = False) -> PublicSet:
    """A set in an archive, as bAbI."""
    digest = sha256(server.files["tales.zip"]) if known else None
    return replace(
        files_set(server),
        files=[Published(f"{server.address}tales.zip", digest)],
        place=place,
        archives=["other*.zip"],
        finish=upper,
        check=check_stories,
    )


@pytest.mark.parametrize("how", ["network", "packed", "unpacked"])
def test_files_are_fetched_or_taken_and_are_what_was_published(how: str, server: FilesServer, tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    for name, text in TEXTS.items():
        (there / f"{name}.gz").write_bytes(gzip.compress(text)) if how == "packed" else (there / name).write_bytes(text)
    source = None if how == "network" else there
    assert get_public_set(files_set(server), here, source=source) == "2 files, as published"
    assert {path.name: path.read_bytes() for path in here.iterdir()} == TEXTS

    server.asked.clear()
    (here / "train.de").write_bytes(b"ein h")  # of what is there, only what is not whole is fetched again
    get_public_set(files_set(server), here, source=source)
    assert {path.name: path.read_bytes() for path in here.iterdir()} == TEXTS
    assert [name for name, _ in server.asked] == (["train.de.gz"] if how == "network" else [])


def test_an_archive_is_fetched_once_and_brought_into_form(server: FilesServer, tmp_path: Path) -> None:
    seen: list[str] = []
    said = get_public_set(archive_set(server), tmp_path / "here", show=lambda what, done, total: seen.append(what))
    assert said == "2 tales; no checksum is known: form and number are as they should be"
    assert {path.name: path.read_text() for path in (tmp_path / "here" / "tales").iterdir()} == {
        "1.txt": "ONE",
        "2.txt": "TWO",
    }
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["tales"]
    assert set(seen) == {f"{server.address}tales.zip"}
    assert get_public_set(archive_set(server), tmp_path / "here") == "2 tales; they were there"
    assert len(server.asked) == 1
    said = get_public_set(archive_set(server, known=True), tmp_path / "again")
    assert said == "2 tales; as published"


@pytest.mark.parametrize("name", ["tales.zip", "other-1.zip", None])
def test_an_archive_is_taken_from_a_folder_or_what_is_in_it(
    name: str | None, server: FilesServer, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    if name is None:
        (there / "1.txt").write_text("one")
        (there / "2.txt").write_text("two")
    else:
        (there / name).write_bytes(server.files["tales.zip"])
    said = get_public_set(archive_set(server, known=True), tmp_path / "here", source=there)
    assert said.startswith("2 tales; as published" if name == "tales.zip" else "2 tales; no checksum is known")
    assert server.asked == []


def test_what_is_not_the_set_is_refused_and_leaves_nothing(server: FilesServer, tmp_path: Path) -> None:
    here = tmp_path / "here"
    small, tales = files_set(server), archive_set(server, known=True)
    server.files["train.en.gz"] = gzip.compress(b"a cat\n")
    with pytest.raises(InputError, match=r"train\.en: not the file of small that is meant, for its SHA-256 is another"):
        get_public_set(small, here)
    assert not here.exists()
    server.files["train.en.gz"] = gzip.compress(TEXTS["train.en"])[:-9]
    with pytest.raises(InputError, match=r"train\.en: packed, and not whole"):
        get_public_set(small, here)
    server.files["train.en.gz"] = gzip.compress(bytes(3 << 20))
    with pytest.raises(InputError, match="more than 1 MB in all"):
        get_public_set(small, here)
    server.files["tales.zip"] = zipped({"1.txt": b"one"})
    with pytest.raises(InputError, match=r"tales\.zip: not the file of small that is meant"):
        get_public_set(tales, here)
    with pytest.raises(InputError, match=r"tales: found \['1\.txt'\]"):
        get_public_set(archive_set(server), here)
    assert not here.exists()  # and so the next try fetches it anew
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: no file train\.en there, packed or not; .*--from DIR"):
        get_public_set(small, here, source=tmp_path / "empty")
    with pytest.raises(InputError, match=r"empty: nothing of small there; wanted tales\.zip, or what is in it"):
        get_public_set(tales, here, source=tmp_path / "empty")
    with pytest.raises(InputError, match=r"none: no such folder; wanted with --from"):
        get_public_set(tales, here, source=tmp_path / "none")
    assert not here.exists()


def test_a_download_that_was_broken_off_goes_on(server: FilesServer, tmp_path: Path) -> None:
    tales, here = archive_set(server), tmp_path / "here"
    server.breaks_after = 100
    with pytest.raises(InputError, match=r"broken off after 100 of .*; or get it by hand, https://example\.com/small"):
        get_public_set(tales, here)
    assert [path.name for path in here.iterdir()] == [".getting"]
    server.breaks_after = None
    get_public_set(tales, here)
    assert [piece for _, piece in server.asked] == [None, "bytes=100-"]
    assert [path.name for path in here.iterdir()] == ["tales"]


def test_folders_of_somebody_else_are_not_touched(server: FilesServer, tmp_path: Path) -> None:
    (tmp_path / "tales").mkdir()
    (tmp_path / "tales" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"tales: there already, and not whole; move it away"):
        get_public_set(archive_set(server), tmp_path)
    assert [path.name for path in (tmp_path / "tales").iterdir()] == ["mine.txt"]


def test_two_at_once_do_not_get_in_each_others_way(server: FilesServer, tmp_path: Path) -> None:
    with (
        locked(tmp_path / ".getting"),
        pytest.raises(InputError, match="another saccade data get is at work there"),
    ):
        get_public_set(files_set(server), tmp_path)


def test_who_brings_a_file() -> None:
    known = SETS.values()
    assert brought_by("data/mnist/train-images-idx3-ubyte", known) == " (saccade data get mnist brings it)"
    assert brought_by(Path("data/babi/en"), known) == " (saccade data get babi brings it)"
    assert brought_by("data/mine/train.tsv", known) == ""


@pytest.mark.parametrize("name", SETS)
def test_the_table_says_all_that_a_person_needs(name: str) -> None:
    """Of each set: where it lies, what it is known by, or how it is checked without that."""
    one = SETS[name]
    assert one.page.startswith("http")
    assert all(file.address.startswith("https://") for file in one.files)
    assert all(file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32 for file in one.files)
    assert (one.check is not None) or one.has_checksums
    assert one.megabytes <= one.most_megabytes
    assert one.about
    assert one.rights


def test_the_command_lists_and_gets(
    server: FilesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{name}: {one.about}\n" in listed for name, one in SETS.items())
    assert "by hand: https://www.statmt.org/europarl\n" in listed
    monkeypatch.setattr("saccade.cli.data.all_kinds", lambda: [replace(KIND, public=(files_set(server),))])
    monkeypatch.chdir(tmp_path)
    assert main(["data", "get", "small"]) == 0
    said = capsys.readouterr()
    assert said.out == f"{Path('data', 'small')}: 2 files, as published\n"
    assert said.err == "".join(f"{server.address}{name}.gz\n" for name in TEXTS)  # nobody would see a bar
    server.files.clear()
    assert main(["data", "get", "small", "--out", "elsewhere"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "404" in error
    assert "--from DIR" in error
