"""Downloads, from a real server: they go on, and leave no half file under its own name."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from saccade.base.download import DownloadError, download
from saccade.base.errors import InputError
from tests.files_server import FilesServer, files_server

CONTENT = bytes(range(251)) * 4001  # a megabyte; several pieces
MOST = 2 << 20


@pytest.fixture
def server() -> Iterator[FilesServer]:
    with files_server() as server:
        server.files["set.bin"] = CONTENT
        yield server


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("tells_length", [True, False])
def test_a_file_comes_as_it_is(tells_length: bool, server: FilesServer, tmp_path: Path) -> None:  # noqa: FBT001
    server.tells_length = tells_length
    seen: list[tuple[int, int | None]] = []
    download(server.address + "set.bin", tmp_path / "set.bin", most=MOST, show=lambda *done: seen.append(done))
    assert (tmp_path / "set.bin").read_bytes() == CONTENT
    assert names(tmp_path) == ["set.bin"]
    assert seen[-1] == (len(CONTENT), len(CONTENT) if tells_length else None)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len(seen) > 2


def test_what_was_broken_off_goes_on(server: FilesServer, tmp_path: Path) -> None:
    server.breaks_after = 300_000
    with pytest.raises(DownloadError, match=r"broken off after 300,000 of 1,004,251 bytes; the same command goes on"):
        download(server.address + "set.bin", tmp_path / "set.bin", most=MOST)
    assert names(tmp_path) == ["set.bin.part", "set.bin.version"]
    with pytest.raises(DownloadError, match="broken off after 600,000 of 1,004,251"):
        download(server.address + "set.bin", tmp_path / "set.bin", most=MOST)
    server.breaks_after = None
    download(server.address + "set.bin", tmp_path / "set.bin", most=MOST)
    assert (tmp_path / "set.bin").read_bytes() == CONTENT
    assert names(tmp_path) == ["set.bin"]
    assert [piece for _, piece in server.asked] == [None, "bytes=300000-", "bytes=600000-"]


def test_another_file_than_the_one_that_was_begun_is_taken_from_its_beginning(
    server: FilesServer, tmp_path: Path
) -> None:
    server.breaks_after = 300_000
    with pytest.raises(DownloadError, match="broken off"):
        download(server.address + "set.bin", tmp_path / "set.bin", most=MOST)
    server.breaks_after = None
    server.files["set.bin"] = CONTENT[::-1]
    download(server.address + "set.bin", tmp_path / "set.bin", most=MOST)
    assert (tmp_path / "set.bin").read_bytes() == CONTENT[::-1]


def test_a_part_of_which_there_is_no_rest_is_not_kept(server: FilesServer, tmp_path: Path) -> None:
    server.breaks_after = 300_000
    with pytest.raises(DownloadError, match="broken off"):
        download(server.address + "set.bin", tmp_path / "set.bin", most=MOST)
    server.breaks_after = None
    (tmp_path / "set.bin.part").write_bytes(CONTENT + b"more")
    with pytest.raises(DownloadError, match="found no rest of it; the same command gets all of it anew"):
        download(server.address + "set.bin", tmp_path / "set.bin", most=MOST)
    download(server.address + "set.bin", tmp_path / "set.bin", most=MOST)
    assert (tmp_path / "set.bin").read_bytes() == CONTENT


def test_what_cannot_be_had_is_said_in_one_line(server: FilesServer, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"other\.bin: cannot be fetched \(HTTP Error 404"):
        download(server.address + "other.bin", tmp_path / "other.bin", most=MOST)
    with pytest.raises(DownloadError, match=r"set\.bin: more than 0 MB, which the set does not have"):
        download(server.address + "set.bin", tmp_path / "large.bin", most=500_000)
    assert not list(tmp_path.glob("large.bin*.part"))
    assert not (tmp_path / "large.bin").exists()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens
        with pytest.raises(DownloadError, match=r"cannot be fetched \(.*refused"):
            download(f"http://127.0.0.1:{closed.getsockname()[1]}/x", tmp_path / "x", most=MOST)
    with pytest.raises(InputError, match=r"set\.bin\.part cannot be written: there is no folder"):
        download(server.address + "set.bin", tmp_path / "no" / "set.bin", most=MOST)


def test_a_full_disk_leaves_a_part_that_goes_on(server: FilesServer, tmp_path: Path) -> None:
    """In a process that may write 400,000 bytes to a file."""
    code = (
        "import resource, signal, sys; from pathlib import Path; from saccade.base.download import download\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
        "try: download(sys.argv[1], Path(sys.argv[2]), most=2 << 20)\n"
        "except ValueError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, server.address + "set.bin", str(tmp_path / "set.bin")]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
    assert run.stdout == f"{tmp_path / 'set.bin.part'} cannot be written: File too large; make room\n"
    assert not (tmp_path / "set.bin").exists()
    download(server.address + "set.bin", tmp_path / "set.bin", most=MOST)
    assert (tmp_path / "set.bin").read_bytes() == CONTENT
    assert server.asked[-1][1] is not None  # only the rest was asked for
