"""A file from the network, in pieces: what was broken off goes on, and half of it never has the file's own name."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple

from saccade.base.errors import InputError
from saccade.base.files import reason_of

_PATIENCE = 30  # seconds without an answer
_PIECE = 1 << 18  # bytes at a time
_RANGE_NOT_SATISFIABLE = 416


class DownloadError(InputError):
    """What lies at an address cannot be had, or not all of it."""


def download(
    address: str, path: Path, *, most: int, show: Callable[[int, int | None], None] = lambda done, total: None
) -> None:
    """Put what lies at `address` at `path`, whose folder is there.

    Until all of it is there it is `path` with `.part` behind it. If that is there already, and the server still has the
    same file, only the rest is asked for. `show` is told how many bytes there are, of how many if that is known. More
    than `most` bytes are refused.
    """
    part, version = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.version")
    try:
        _receive(address, part, version, most, show)
        part.replace(path)
        version.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{part} cannot be written: {reason_of(error, part)}") from error


def _receive(address: str, part: Path, version: Path, most: int, show: Callable[[int, int | None], None]) -> None:
    there = part.stat().st_size if part.is_file() and version.is_file() else 0
    headers = {"User-Agent": "saccade"}
    if there:  # the rest, if it is still the same file; else all of it
        headers |= {"Range": f"bytes={there}-", "If-Range": version.read_text(encoding="latin-1")}
    answer = _ask(address, headers)
    if answer is None:  # there is no rest of it: the file is another one now
        part.unlink()
        version.unlink()
        raise DownloadError(f"{address}: found no rest of it; the same command gets all of it anew")
    with answer.stream:
        if not answer.goes_on:
            there = 0
            version.unlink(missing_ok=True)
        with part.open("ab" if answer.goes_on else "wb") as file:
            if answer.version is not None:
                version.write_text(answer.version, encoding="latin-1")
            total = None if answer.length is None else there + answer.length
            while piece := _read(answer.stream, address):
                file.write(piece)
                there += len(piece)
                if there > most:
                    part.unlink()
                    raise DownloadError(f"{address}: more than {most >> 20} MB, which the set does not have")
                show(there, total)
    if total is not None and there < total:
        raise DownloadError(f"{address}: broken off after {there:,} of {total:,} bytes; the same command goes on there")


class _Answer(NamedTuple):
    stream: IO[bytes]
    goes_on: bool  # with the piece that was asked for, and not from the beginning
    length: int | None  # bytes that it sends, if it says so
    version: str | None  # by what it would know the same file again


def _ask(address: str, headers: dict[str, str]) -> _Answer | None:
    """The server's answer; None where the piece that is wanted is none of the file."""
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - an address of ours
    try:
        stream = urllib.request.urlopen(request, timeout=_PATIENCE)  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code == _RANGE_NOT_SATISFIABLE and "Range" in headers:
            return None
        raise DownloadError(f"{address}: cannot be fetched ({error})") from None
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise DownloadError(f"{address}: cannot be fetched ({reason})") from None
    start = headers.get("Range", "").removeprefix("bytes=")
    goes_on = stream.status == http.client.PARTIAL_CONTENT
    if goes_on and not stream.headers.get("Content-Range", "").startswith(f"bytes {start}"):
        stream.close()
        raise DownloadError(f"{address}: another piece came than the one that was asked for")
    length = stream.headers.get("Content-Length", "")
    weak = stream.headers.get("ETag", "").startswith("W/")
    version = stream.headers.get("Last-Modified") if weak else stream.headers.get("ETag")
    version = version or stream.headers.get("Last-Modified")
    return _Answer(stream, goes_on, int(length) if length.isdigit() else None, version)


def _read(stream: IO[bytes], address: str) -> bytes:
    try:
        return stream.read(_PIECE)
    except (OSError, http.client.HTTPException) as error:
        raise DownloadError(f"{address}: broken off ({error}); the same command goes on there") from None
