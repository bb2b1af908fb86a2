"""Tensors on disk: safetensors files that know their own checksums, and are looked at before they are taken in.

Beside the tensors, a file's metadata has

    header  the SHA-256 of all that stands before the numbers: names, types, shapes, and the metadata but for this
    data    the SHA-256 of the numbers

so that damage is noticed, wherever it is. Any program that reads safetensors reads these files.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from saccade.base.errors import InputError
from saccade.base.files import open_own, write_file

_METADATA, _LENGTH = "__metadata__", 8  # the length of the header comes first, in so many bytes
_MOST_HEADER = 16 << 20
_TYPES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64", torch.bool: "BOOL"}


class Header(NamedTuple):
    """What a file says of itself before its numbers."""

    tensors: dict[str, tuple[str, tuple[int, ...]]]  # the type and the shape of each, by name
    metadata: dict[str, str]
    begins: int  # where the numbers do
    size: int  # of the file


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> None:
    """Write a safetensors file with its checksums, whole or not at all."""
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    content = memoryview(safetensors.torch.save(contiguous))
    begins = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    header: dict[str, Any] = json.loads(bytes(content[_LENGTH:begins]))
    header[_METADATA] = {**(metadata or {}), "data": hashlib.sha256(content[begins:]).hexdigest()}
    header[_METADATA]["header"] = _digest(header)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _LENGTH)  # numbers begin where a processor likes them to
    write_file(path, len(text).to_bytes(_LENGTH, "little"), text, content[begins:])


def _digest(header: dict[str, Any]) -> str:
    rest = {name: value for name, value in header[_METADATA].items() if name != "header"}
    return hashlib.sha256(json.dumps({**header, _METADATA: rest}, sort_keys=True).encode()).hexdigest()


def read_header(path: Path, *, remedy: str) -> Header:
    """What the file says of itself; damage is an `InputError` that ends with the remedy."""
    with open_own(path) as file:
        return _read_header(file, path, remedy)


def _read_header(file: IO[bytes], path: Path, remedy: str) -> Header:
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(_LENGTH), "little")
    if not 2 <= length <= min(_MOST_HEADER, size - _LENGTH):
        raise InputError(f"{path}: damaged, it has no header; {remedy}")
    try:
        header = json.loads(file.read(length))
        tensors = {
            name: (str(entry["dtype"]), tuple(map(int, entry["shape"])))
            for name, entry in header.items()
            if name != _METADATA
        }
        ends = max((int(entry["data_offsets"][1]) for name, entry in header.items() if name != _METADATA), default=0)
        metadata = {str(name): str(value) for name, value in header.get(_METADATA, {}).items()}
        whole = "header" not in metadata or metadata["header"] == _digest(header)
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError, OverflowError):
        whole, tensors, metadata, ends = False, {}, {}, 0
    if not whole:
        raise InputError(f"{path}: damaged, its header is not as it was written; {remedy}")
    if not {"header", "data"} <= metadata.keys():
        raise InputError(f"{path}: it has no checksums, as saccade writes them; {remedy}")
    if _LENGTH + length + ends != size:
        raise InputError(f"{path}: damaged, {size:,} bytes, wanted {_LENGTH + length + ends:,}; {remedy}")
    return Header(tensors, metadata, _LENGTH + length, size)


def read_tensors(path: Path, wanted: Mapping[str, Tensor], *, remedy: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a file, and its metadata. Names, types and shapes have to be those of `wanted`.

    They are compared with the header before anything is read; `wanted` may be on torch's meta device.
    """
    with open_own(path) as file:
        header = _read_header(file, path, remedy)
        expect_tensors(header, wanted, where=str(path))
        file.seek(0)
        content = file.read(header.size)
    if hashlib.sha256(memoryview(content)[header.begins :]).hexdigest() != header.metadata["data"]:
        raise InputError(f"{path}: damaged, its numbers are not as they were written; {remedy}")
    try:
        return safetensors.torch.load(content), header.metadata
    except (SafetensorError, ValueError) as error:
        raise InputError(f"{path}: damaged ({error}); {remedy}") from None


def expect_tensors(header: Header, wanted: Mapping[str, Tensor], *, where: str) -> None:
    """Raise unless a file has these tensors and no others, each of its type and shape."""
    lost, strange = sorted(wanted.keys() - header.tensors.keys()), sorted(header.tensors.keys() - wanted.keys())
    if lost or strange:
        what = f"{lost[0]} is missing" if lost else f"{strange[0][:100]} is not part of the model"
        raise InputError(f"{where}: {what}; it does not belong to the settings beside it")
    for name, tensor in wanted.items():
        kind, shape = header.tensors[name]
        if shape != tuple(tensor.shape) or kind != _TYPES.get(tensor.dtype):
            asked = f"{_TYPES.get(tensor.dtype)} {list(tensor.shape)}"
            raise InputError(
                f"{where}: {name} is {kind} {list(shape)}, wanted {asked}; it does not belong to the settings beside it"
            )
