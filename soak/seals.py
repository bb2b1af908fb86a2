"""A model's folder changed by somebody who knows its checksums: they fit, whatever the files say."""

import hashlib
import json
from pathlib import Path
from typing import Any

from saccade.base.model_folder import WEIGHTS
from saccade.base.tensors import _digest as header_digest

METADATA = "__metadata__"
_LENGTH = 8  # bytes, of the header's length


def read_parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """The header of a safetensors file, and its numbers."""
    content = path.read_bytes()
    begins = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    return json.loads(content[_LENGTH:begins]), content[begins:]


def write_sealed(path: Path, header: dict[str, Any], numbers: bytes) -> None:
    """Write such a file, with the checksums of what is in it, as far as the header has a place for them."""
    if isinstance(header.get(METADATA), dict):
        header[METADATA]["data"] = hashlib.sha256(numbers).hexdigest()
        header[METADATA]["header"] = header_digest(header)
    write_raw(path, json.dumps(header).encode(), numbers)


def write_raw(path: Path, header: bytes, numbers: bytes) -> None:
    """Write such a file with a header that is any text."""
    path.write_bytes(len(header).to_bytes(_LENGTH, "little") + header + numbers)


def reseal(folder: Path) -> None:
    """Make the checksums those of the files as they are now."""
    header, numbers = read_parts(folder / WEIGHTS)
    names = json.loads(header[METADATA]["files"])
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    header[METADATA]["files"] = json.dumps(digests)
    write_sealed(folder / WEIGHTS, header, numbers)
