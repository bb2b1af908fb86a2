"""Text that comes packed: gzip, and zstandard where its package is installed. Known by its first bytes, not its name.

What the text is, a table or JSON lines, is seen from the name without `.gz` or `.zst`.
"""

import gzip
import importlib
import io
import zlib
from pathlib import Path
from typing import Any, Protocol

from saccade.base.errors import InputError

_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ENDINGS = frozenset({".gz", ".zst"})
_MOST_BYTES = 16 << 30  # of a file that is read as a whole, unpacked
# A small file may hold far more than it seems, up to filling the memory. Text that says something is not so repetitive.
_MOST_TIMES, _ALWAYS_BYTES = 200, 256 << 20
_PIECE = 1 << 10  # packed bytes at a time, of zstandard's: they may become 32 MB


def is_packed(start: bytes) -> bool:
    """Whether these are the first bytes of packed text; no UTF-8 begins so."""
    return start.startswith((_GZIP, _ZSTANDARD))


def plain_path(path: Path) -> Path:
    """The path as it would be unpacked: without `.gz` or `.zst`."""
    return path.with_suffix("") if path.suffix.lower() in _ENDINGS else path


def unpacked(content: bytes, name: str, *, most: int = _MOST_BYTES) -> bytes:
    """The content of a file called `name`, as it is or unpacked, which may be at most `most` bytes."""
    if not is_packed(content):
        return content
    likely = max(_ALWAYS_BYTES, _MOST_TIMES * len(content))
    reader = Unpacked(io.BytesIO(content), name, start=content[:4])
    parts: list[bytes] = []
    total = 0
    while part := reader.read(1 << 20):
        parts.append(part)
        total += len(part)
        if total > most:
            raise InputError(f"{name}: more than {most >> 20:,} MB when it is unpacked; take it in pieces")
        if total > likely:
            raise InputError(
                f"{name}: more than {_MOST_TIMES} times as large when it is unpacked, which text hardly is; if it is"
                " meant so, unpack it first"
            )
    return b"".join(parts)


class Readable(Protocol):
    """What can be read piece by piece, perhaps never back."""

    def read(self, most: int, /) -> bytes: ...


class Unpacked:
    """What a packed stream holds, piece by piece, so that it never is in memory as a whole."""

    def __init__(self, packed: Readable, name: str, *, start: bytes) -> None:
        """`start` is how the stream begins, which it has not been asked for yet."""
        self._name = name
        stream: Any = packed  # gzip asks for a whole file object, and then only reads
        self._file = gzip.GzipFile(fileobj=stream) if start.startswith(_GZIP) else _Frames(packed, name)

    def read(self, most: int) -> bytes:
        """At most so many bytes; none at the end."""
        try:
            return self._file.read(most)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self._name}: packed, and not whole ({error}); get it anew") from None
        except Exception as error:
            if type(error).__name__ != "ZstdError":  # of a package that may not be there to name it
                raise
            raise InputError(f"{self._name}: packed, and not whole ({error}); get it anew") from None


class _Frames:
    """What the frames of zstandard hold, one after the other.

    The package's own reader of streams takes one that is cut off for a whole one, so the end is looked for here.
    """

    def __init__(self, packed: Readable, name: str) -> None:
        try:
            module: Any = importlib.import_module("zstandard")
        except ImportError:
            raise InputError(
                f"{name}: packed by zstandard; pip install zstandard to read it, or unpack it first: zstd -d"
            ) from None
        self._packed = packed
        self._decompressor = module.ZstdDecompressor()
        self._frame: Any = None  # the one that has begun and not ended
        self._rest = b""  # of the packed piece, after the end of a frame
        self._ready = b""

    def read(self, most: int) -> bytes:
        while not self._ready:
            piece = self._rest or self._packed.read(_PIECE)
            if not piece and self._frame is not None:
                raise EOFError("it ends in the midst of a frame")
            if not piece:
                return b""
            frame = self._frame or self._decompressor.decompressobj()
            self._ready, self._rest = frame.decompress(piece), frame.unused_data
            self._frame = None if frame.eof else frame
        part, self._ready = self._ready[:most], self._ready[most:]
        return part
