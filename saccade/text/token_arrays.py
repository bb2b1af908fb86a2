"""Tokens on disk: two arrays in numpy's own format, read through a memory map, so that they may be larger than memory.

    tokens.npy    the tokens of all documents, one behind the other: uint16, or uint32 for a large vocabulary
    offsets.npy   where each document begins, and where the last one ends: document n is tokens[offsets[n]:offsets[n+1]]
    about.json    how many there are, and the checksums of all

They are written once, piece by piece. `about.json` is written last, so what a killed process leaves does not count.
"""

import hashlib
import json
import mmap
import os
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.base.files import open_own, read_own, remove_leftovers, write_file, writing
from saccade.base.fingerprint import fingerprint
from saccade.base.lock import LOCK, locked
from saccade.text.vocabularies.running import TokenIds
from saccade.text.vocabularies.vocabulary import UNKNOWN

TOKENS, OFFSETS, ABOUT = "tokens.npy", "offsets.npy", "about.json"
_OFFSET = np.dtype("<i8")
_HEADER = 128  # bytes; numpy's is as long for any number of tokens
_AT_ONCE = 1 << 20  # bytes of one reading
_MOST_BYTES = 1 << 16  # of about.json


class TokenPiece(NamedTuple):
    """The next tokens of a document, and how much text they stand for, if that is counted."""

    ids: TokenIds
    ends: bool = True  # the document
    characters: int = 0
    utf8_bytes: int = 0


@dataclass(frozen=True)
class Counts:
    """How much there is in two arrays."""

    documents: int = 0
    tokens: int = 0
    unknown: int = 0  # tokens among them
    characters: int = 0
    utf8_bytes: int = 0

    def add(self, piece: TokenPiece) -> "Counts":
        return Counts(
            self.documents + piece.ends,
            self.tokens + len(piece.ids),
            self.unknown + int(np.count_nonzero(piece.ids == UNKNOWN)),
            self.characters + piece.characters,
            self.utf8_bytes + piece.utf8_bytes,
        )


@dataclass(frozen=True)
class TokenArrays:
    """The tokens of documents."""

    tokens: TokenIds  # [tokens]
    offsets: NDArray[np.int64]  # [documents + 1]
    counts: Counts
    place: Path  # their folder
    mapping: mmap.mmap  # what `tokens` is a view of

    def document(self, index: int) -> TokenIds:
        """The tokens of one."""
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]

    def forget(self) -> None:
        """Let go of the memory of what was read so far, which the system does by itself only when it is short of it."""
        if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
            self.mapping.madvise(mmap.MADV_DONTNEED)


def token_arrays(
    folder: Path,
    pieces: Callable[[], Iterable[TokenPiece]],
    *,
    name: str,
    vocabulary_size: int,
    tell: Callable[[str], None] = lambda text: None,
) -> TokenArrays:
    """The arrays that `folder` has under this name, a fingerprint of what they are made of; else they are made there.

    Damaged ones are made anew, and `tell` is told. Another process that is making them is waited for.
    """
    place = folder / name
    with locked(place, what="writing of tokens", wait=True):
        if (place / ABOUT).exists():
            try:
                return _read(place)
            except InputError as damage:
                tell(f"{damage}; the tokens are made anew")
        remove_leftovers(place)
        _write(place, pieces(), np.dtype("<u2" if vocabulary_size <= 1 << 16 else "<u4"))
        return _read(place)


def remove_other_arrays(folder: Path, *, keep: Collection[TokenArrays]) -> None:
    """Delete the arrays that `folder` has besides these: those of a text that is no longer wanted."""
    kept = {arrays.place.name for arrays in keep}
    for place in folder.iterdir():
        is_ours = re.fullmatch(r"[0-9a-f]{16}", place.name) and place.is_dir() and not place.is_symlink()
        if is_ours and place.name not in kept:
            remove_leftovers(place)
            for name in (ABOUT, TOKENS, OFFSETS, LOCK):
                (place / name).unlink(missing_ok=True)
            if not any(place.iterdir()):  # what somebody else put there stays
                place.rmdir()


class _Rows:
    """Numbers that are appended to a file."""

    def __init__(self, file: IO[bytes], kind: np.dtype[Any]) -> None:
        self._file, self._kind, self._count = file, kind, 0
        self._digest = hashlib.sha256()
        file.write(bytes(_HEADER))

    def add(self, numbers: NDArray[Any]) -> None:
        content = np.ascontiguousarray(numbers, dtype=self._kind).data
        self._file.write(content)
        self._digest.update(content)
        self._count += len(numbers)

    def finish(self) -> str:
        """Write how many there are where that belongs; gives the checksum of the numbers."""
        self._file.seek(0)
        self._file.write(_header(self._kind, self._count))
        return self._digest.hexdigest()


def _header(kind: np.dtype[Any], count: int) -> bytes:
    """How a numpy file begins that has so many numbers."""
    file = BytesIO()
    about = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(file, about)
    if len(file.getvalue()) != _HEADER:
        raise ValueError(f"numpy's header has {len(file.getvalue())} bytes, wanted {_HEADER}")
    return file.getvalue()


def _write(place: Path, pieces: Iterable[TokenPiece], kind: np.dtype[Any]) -> None:
    counts = Counts()
    with writing(place / TOKENS) as tokens_file, writing(place / OFFSETS) as offsets_file:
        tokens, offsets = _Rows(tokens_file, kind), _Rows(offsets_file, _OFFSET)
        offsets.add(np.zeros(1))
        for piece in pieces:
            tokens.add(piece.ids)
            counts = counts.add(piece)
            if piece.ends:
                offsets.add(np.array([counts.tokens]))
        checksums = [tokens.finish(), offsets.finish()]
    about = {"counts": asdict(counts), "kind": kind.str, "checksums": checksums}
    write_file(place / ABOUT, json.dumps({**about, "checksum": _checksum(about)}, indent=1).encode())


def _checksum(about: dict[str, Any]) -> str:
    return fingerprint([json.dumps(about, sort_keys=True)])


def _read(place: Path) -> TokenArrays:
    """The arrays of a folder; whatever is not as it was written is an `InputError`."""
    try:
        about = json.loads(read_own(place / ABOUT, most=_MOST_BYTES))
        counts, kind = Counts(**about["counts"]), np.dtype(about["kind"])
        of_tokens, of_offsets = about["checksums"]
        whole = about.pop("checksum") == _checksum(about)
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        raise InputError(f"{place / ABOUT}: damaged") from None
    if not whole:
        raise InputError(f"{place / ABOUT}: damaged")
    tokens, mapping = _map(place / TOKENS, kind, counts.tokens, of_tokens)
    offsets, _ = _map(place / OFFSETS, _OFFSET, counts.documents + 1, of_offsets)
    return TokenArrays(tokens, offsets, counts, place, mapping)


def _map(path: Path, kind: np.dtype[Any], count: int, checksum: str) -> tuple[NDArray[Any], mmap.mmap]:
    with open_own(path) as file:
        wanted = _HEADER + count * kind.itemsize
        if (size := os.fstat(file.fileno()).st_size) != wanted:
            raise InputError(f"{path}: damaged, {size:,} bytes, wanted {wanted:,}")
        header, digest = file.read(_HEADER), hashlib.sha256()
        while data := file.read(_AT_ONCE):
            digest.update(data)
        if header != _header(kind, count) or digest.hexdigest() != checksum:
            raise InputError(f"{path}: damaged, its numbers are not as they were written")
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapping, dtype=kind, count=count, offset=_HEADER), mapping
