"""Files are whole or not there."""

import subprocess
import sys
from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.base.files import write_file

FULL_DISK = """
import resource, sys
from pathlib import Path
from saccade.base.files import write_file
from saccade.base.errors import InputError
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_file(Path(sys.argv[1]), b"n" * 5000)
except InputError as error:
    print(error)
"""


def test_a_file_is_made(tmp_path: Path) -> None:
    write_file(tmp_path / "file", b"con", b"tent")
    assert (tmp_path / "file").read_bytes() == b"content"


def test_when_nothing_more_can_be_written_the_old_file_stays(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: the write fails halfway."""
    path = tmp_path / "file"
    path.write_bytes(b"the old one")
    command = [sys.executable, "-c", FULL_DISK, str(path)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)  # noqa: S603
    assert run.stdout == f"{path} cannot be written: File too large; make room\n"
    assert path.read_bytes() == b"the old one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file/inside cannot be written: Not a directory; choose another place"):
        write_file(tmp_path / "file" / "inside", b"")
