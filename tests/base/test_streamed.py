"""Text files piece by piece: what is read is what reading them at once gives, and mistakes have their lines."""

import gzip
import os
from pathlib import Path

import pytest
import zstandard

from saccade.base import streamed
from saccade.base.errors import InputError
from saccade.base.files import read_lines, writing
from saccade.base.streamed import KnownFile, open_text_file, read_pieces, stream_lines

TEXT = "".join(f"line {number}: ein Häuschen, {number**3} ☃\n" for number in range(500))


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "_AT_ONCE", 7)


def known(path: Path, content: bytes) -> KnownFile:
    path.write_bytes(content)
    return KnownFile.of(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_pieces_and_lines_are_the_text(pack: type[bytes], mark: bytes, tmp_path: Path) -> None:
    file = known(tmp_path / "text", pack(mark + TEXT.encode()))
    assert "".join(read_pieces(file)) == TEXT
    assert len(list(read_pieces(file))) > 100
    assert [line.decode() for line in stream_lines(file)] == read_lines(file.path) == TEXT.splitlines()


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"a", b"a\n\nb", b"\xef\xbb\xbf", b"\xef\xbb\xbfa\r\n\xef\xbb\xbfb", b"a\rb\n"]
)
def test_lines_are_cut_as_elsewhere(content: bytes, tmp_path: Path) -> None:
    file = known(tmp_path / "text", content)
    assert [line.decode().removesuffix("\r") for line in stream_lines(file)] == read_lines(file.path)
    assert "".join(read_pieces(file)).encode() == content.removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"\xff", "line 1: byte 1 (0xff)"),
        (b"good\n\nb\xc3\xa9\xe9d\n", "line 3: byte 4 (0xe9)"),
        (b"x" * 40 + b"\xc3\xa9" * 10 + b"\x80", "line 1: byte 61 (0x80)"),
        (b"\n" * 20 + b"\xc3\xa9" * 10 + b"\n\xc3\xa9ab\xc3", "line 22: byte 5 (0xc3)"),  # cut off at the end
        (b"\xef\xbb\xbfab\xe9", "line 1: byte 3 (0xe9)"),
    ],
)
def test_what_is_not_utf8_has_its_line_and_byte(content: bytes, where: str, tmp_path: Path) -> None:
    file = known(tmp_path / "text", content)
    with pytest.raises(InputError) as at_once:
        read_lines(file.path)
    with pytest.raises(InputError) as in_pieces:
        list(read_pieces(file))
    assert str(in_pieces.value) == str(at_once.value)
    assert where in str(in_pieces.value)


def test_a_line_without_an_end_is_left_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed, "_LONGEST", 50)
    lines = stream_lines(known(tmp_path / "text", b"short\n" + b"x" * 1000))
    assert next(lines) == b"short"
    with pytest.raises(InputError, match=r"text, line 2: more than 0 MB in a line; split it"):
        next(lines)


def test_a_file_that_is_changed_between_two_readings_is_refused(tmp_path: Path) -> None:
    file = known(tmp_path / "text", b"abc")
    os.utime(file.path, ns=(0, file.changed + 1))
    with pytest.raises(InputError, match="text was changed while it was being read; begin again"), open_text_file(file):
        pytest.fail("it was opened")
    file.path.unlink()
    with pytest.raises(InputError, match="text cannot be read: No such file"):
        list(read_pieces(file))


def test_what_cannot_be_read_again_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
        with pytest.raises(InputError, match="not a regular file, and it is read more than once; save it as one"):
            KnownFile.of(path)
    with pytest.raises(InputError, match="nowhere cannot be read: No such file"):
        KnownFile.of(tmp_path / "nowhere")


def test_what_is_packed_and_cut_off_is_refused(tmp_path: Path) -> None:
    file = known(tmp_path / "text.gz", gzip.compress(TEXT.encode())[:-9])
    with pytest.raises(InputError, match=r"text\.gz: packed, and not whole"):
        list(read_pieces(file))


def test_a_file_is_written_piece_by_piece_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with writing(path) as file:
        file.write(b"..content")
        file.seek(0)
        file.write(b"my")
        assert not path.exists()
    assert path.read_bytes() == b"mycontent"
    with pytest.raises(TypeError), writing(path) as file:
        file.writelines([b"new", 1])  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert path.read_bytes() == b"mycontent"
    assert list(tmp_path.iterdir()) == [path]
    with (
        pytest.raises(InputError, match="file cannot be written: there is no folder"),
        writing(tmp_path / "no" / "file"),
    ):
        pytest.fail("it was opened")
