"""Text that comes packed: read as it was, or refused, and never more of it than the memory can hold."""

import gzip
import importlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from saccade.base import compressed as packed
from saccade.base.compressed import Unpacked, is_packed, plain_path, unpacked
from saccade.base.errors import InputError
from saccade.base.files import read_lines

TEXT = "".join(f"line {number}: ein Häuschen, {number**3}\n" for number in range(5000)).encode()
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstandard": zstandard.ZstdCompressor(write_checksum=True).compress,
}
each_packer = pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS.keys())


def test_what_is_not_packed_stays_as_it_is():
    for content in (b"", b"\x1f", b"(\xb5/", "Äh\n".encode(), TEXT):
        assert not is_packed(content)
        assert unpacked(content, "text") is content


@each_packer
def test_packed_text_is_what_it_was(pack: Callable[[bytes], bytes], tmp_path: Path):
    path = tmp_path / "called.as.you.like"
    path.write_bytes(pack(TEXT))
    assert read_lines(path) == TEXT.decode().splitlines()
    path.write_bytes(pack(b"\xef\xbb\xbfone\r\ntwo"))
    assert read_lines(path) == ["one", "two"]
    path.write_bytes(pack(b""))
    assert read_lines(path) == []


@each_packer
def test_parts_packed_apart_are_read_as_one(pack: Callable[[bytes], bytes]):
    """As `cat a.gz b.gz > c.gz` makes them; a part may be empty, or end where a piece that is read does."""
    parts = pack(TEXT) + pack(b"") + pack(b"the end\n")
    assert unpacked(parts, "parts") == TEXT + b"the end\n"
    for most in (1, 7, 1 << 20):
        reader = Unpacked(io.BytesIO(pack(b"ab") + pack(b"cde")), "parts", start=pack(b"ab")[:4])
        found = b""
        while part := reader.read(most):
            assert len(part) <= most
            found += part
        assert found == b"abcde"


@each_packer
def test_what_is_cut_off_or_damaged_is_refused(pack: Callable[[bytes], bytes]):
    whole = pack(TEXT)
    for length in (4, 10, len(whole) // 2, len(whole) - 1):
        with pytest.raises(InputError, match=r"cut\.gz: packed, and not whole \(.*\); get it anew"):
            unpacked(whole[:length], "cut.gz")
    with pytest.raises(InputError, match="not whole"):
        unpacked(pack(b"good") + whole[: len(whole) // 2], "second part")
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    for content in (bytes(damaged), whole + b"what is this?"):
        with pytest.raises(InputError, match="not whole"):
            unpacked(content, "damaged")


@each_packer
def test_a_bomb_is_left_before_it_fills_the_memory(pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(packed, "_ALWAYS_BYTES", 4 << 20)
    bomb = pack(bytes(64 << 20))
    assert len(bomb) < 100_000
    with pytest.raises(InputError, match=r"bomb: more than 200 times as large .* unpack it first"):
        unpacked(bomb, "bomb")
    with pytest.raises(InputError, match=r"bomb: more than 3 MB when it is unpacked"):
        unpacked(bomb, "bomb", most=3 << 20)
    assert len(unpacked(pack(bytes(4 << 20)), "small")) == 4 << 20  # few bytes may be as repetitive as they like


def test_a_bomb_is_never_there_as_a_whole():
    """Piece by piece: what one call makes of it is bounded, whatever the stream says."""
    bomb = zstandard.ZstdCompressor().compress(bytes(200 << 20))
    reader = Unpacked(io.BytesIO(bomb), "bomb", start=bomb[:4])
    assert len(reader.read(1 << 20)) == 1 << 20
    frames = reader._file
    assert isinstance(frames, packed._Frames)
    assert len(frames._ready) <= 32 << 20


def test_without_the_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}")

    path = tmp_path / "pairs.tsv.zst"
    path.write_bytes(PACKERS["zstandard"](TEXT))
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError) as caught:
        read_lines(path)
    says = "packed by zstandard; pip install zstandard to read it, or unpack it first: zstd -d"
    assert str(caught.value) == f"{path}: {says}"
    path.write_bytes(gzip.compress(b"gzip needs no package"))
    assert read_lines(path) == ["gzip needs no package"]


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("a.tsv", "a.tsv"),
        ("a.tsv.gz", "a.tsv"),
        ("a.b.jsonl.zst", "a.b.jsonl"),
        ("A.JSONL.GZ", "A.JSONL"),
        ("train.gz", "train"),
        (".gz", ".gz"),
        ("a.gz.tsv", "a.gz.tsv"),
    ],
)
def test_the_name_without_its_packing(name: str, plain: str):
    assert plain_path(Path("there.gz", name)) == Path("there.gz", plain)
