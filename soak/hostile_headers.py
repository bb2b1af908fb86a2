"""Headers of safetensors files that say something else than the numbers behind them are."""

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from soak.seals import METADATA


class Changed(NamedTuple):
    """What a file is to be made of, and whether nothing but a refusal will do."""

    what: str
    header: dict[str, Any]
    numbers: bytes
    wrong: bool = True
    raw: bytes | None = None  # the header's text, if it is not `header`
    length: int | None = None  # what the file says that its length is, if not the truth


Header = dict[str, Any]

_FLOATS = ("F8_E4M3", "F8_E5M2", "BF16", "F16", "F64", "C64")
_KINDS = (*_FLOATS, "I8", "U8", "I64", "U64", "BOOL", "f32", "", "X", 5, None, [])
_SHAPES: tuple[Any, ...] = (
    [],
    [0],
    [1],
    [-1],
    [2**31],
    [2**62, 4],
    [2**64],
    [10**400],
    [1.5],
    ["8"],
    [None],
    [[8]],
    [True],
    None,
    8,
    "8",
    {},
    [1] * 10_000,
)
_OFFSETS: tuple[Any, ...] = (
    [0, 0],
    [4, 0],
    [-4, 4],
    [0, 2**40],
    [2**63, 2**63 + 4],
    [0, 10**400],
    [0],
    [],
    [0, 4, 8],
    None,
    "0",
    [0.5, 4.5],
    ["0", "4"],
)
_NAMES = ("", "\0", "../x", "x" * 100_000, "__metadata__ ", "net", "weight", "\u202e", "a\nb")


def change(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    """Another file of tensors, made from a good one."""
    way = rng.choice(_WAYS)
    return way(header, numbers, rng)


def _tensor(header: Header, rng: random.Random) -> str:
    return rng.choice([name for name in header if name != METADATA])


def _another_kind(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    name = _tensor(header, rng)
    kind = rng.choice([kind for kind in _KINDS if kind != header[name]["dtype"]])
    header[name]["dtype"] = kind
    return Changed(f"{name} is {kind!r}", header, numbers)


def _smaller_numbers(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    """All tensors of a smaller kind, with offsets and numbers to fit."""
    kind, size = rng.choice([("I8", 1), ("F8_E4M3", 1), ("F8_E5M2", 1), ("BOOL", 1), ("BF16", 2), ("F16", 2)])
    for name, entry in header.items():
        if name != METADATA:
            entry["dtype"], entry["data_offsets"] = kind, [offset * size // 4 for offset in entry["data_offsets"]]
    return Changed(f"all are {kind}, and fit", header, numbers[: len(numbers) * size // 4])


def _larger_numbers(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    kind = rng.choice(["I64", "F64", "U64"])
    for name, entry in header.items():
        if name != METADATA:
            entry["dtype"], entry["data_offsets"] = kind, [2 * offset for offset in entry["data_offsets"]]
    return Changed(f"all are {kind}, and fit", header, numbers * 2)


def _another_shape(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    name = _tensor(header, rng)
    shape = header[name]["shape"]
    changed = rng.choice([*_SHAPES, [*shape, 1], [1, *shape], [2 * size for size in shape]])
    if changed == shape:
        changed = [*shape, 1]
    header[name]["shape"] = changed
    return Changed(f"{name} has the shape {repr(changed)[:80]}", header, numbers)


def _other_offsets(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    name = _tensor(header, rng)
    begin, end = header[name]["data_offsets"]
    changed = rng.choice([*_OFFSETS, [begin + 4, end + 4], [begin, end + 4], [begin, end - 4], [end, begin]])
    header[name]["data_offsets"] = changed
    return Changed(f"{name} is at {repr(changed)[:80]}", header, numbers)


def _huge(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    """A tensor that would fill the memory, if room for it were made."""
    name = _tensor(header, rng)
    side = rng.choice([2**15, 2**20, 2**30])
    header[name] = {"dtype": "F32", "shape": [side, side], "data_offsets": [0, 4 * side * side]}
    return Changed(f"{name} has the shape {[side, side]}", header, numbers)


def _other_names(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    name, new = _tensor(header, rng), rng.choice(_NAMES)
    kind = rng.choice(["gone", "renamed", "one more", "twice"])
    if kind == "twice":
        text = json.dumps(header)
        again = f"{text[:-1]}, {json.dumps(name)}: {json.dumps(header[name])}}}"
        return Changed(f"{name} stands there twice", header, numbers, wrong=False, raw=again.encode())
    entry = header[name]
    if kind != "one more":
        del header[name]
    if kind != "gone":
        header[new] = entry
    return Changed(f"{name}: {kind}, {ascii(new)[:80]}", header, numbers)


def _not_finite(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    floats = [entry["data_offsets"] for name, entry in header.items() if name != METADATA and entry["dtype"] == "F32"]
    begin, end = rng.choice(floats)
    offset = rng.randrange(begin, end, 4)
    value = rng.choice([b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff"])
    return Changed(f"no finite number at {offset}", header, numbers[:offset] + value + numbers[offset + 4 :])


def _extreme(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    """Finite, but what is computed from it may not be."""
    value = rng.choice([b"\xff\xff\x7f\x7f", b"\x00\x00\x00\x00", b"\x01\x00\x00\x00", b"\xff\xff\x7f\xff"])
    return Changed(f"all numbers are {value.hex()}", header, value * (len(numbers) // 4), wrong=False)


def _no_metadata(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    value = rng.choice([None, [], 5, "x", {}, {"files": "{}"}, {"format": "pt"}])
    if value is None:
        del header[METADATA]
    else:
        header[METADATA] = value
    return Changed(f"the metadata are {value!r}", header, numbers)


def _other_metadata(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    """What the file says of those beside it."""
    digest = "0" * 64
    key, value = rng.choice(
        [
            ("format", "2"),
            ("format", ""),
            ("format", 1),
            ("format", "9" * 100_000),
            ("files", "nothing"),
            ("files", "[]"),
            ("files", "[" * 100_000),
            ("files", json.dumps({"../../../../etc/passwd": digest})),
            ("files", json.dumps({"/dev/zero": digest})),
            ("files", json.dumps({"..": digest})),
            ("files", json.dumps({"": digest})),
            ("files", json.dumps({"\0": digest})),
            ("files", json.dumps({"x" * 5000: digest})),
            ("files", json.dumps({"a\nb": digest})),
            ("files", json.dumps({"config.yaml": 5})),
            ("files", json.dumps({"config.yaml": digest})),
            ("files", "{}"),
            ("more", "x" * 1_000_000),
        ]
    )
    header[METADATA][key] = value
    return Changed(f"the metadata have {key}: {repr(value)[:80]}", header, numbers, wrong=False)


def _other_numbers(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    kind = rng.choice(["more", "fewer", "none"])
    changed = {"more": numbers + bytes(4), "fewer": numbers[:-4], "none": b""}[kind]
    return Changed(f"{kind} numbers than said", header, changed)


def _no_header(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    texts = {
        "deep lists": b"[" * 1_000_000,
        "deep names": b'{"a":' * 100_000,
        "a list": b"[]",
        "a number": b"5",
        "null": b"null",
        "nothing in it": b"{}",
        "spaces": b" " * (20 << 20),
        "no UTF-8": b"\xff" * 100,
        "half a character": json.dumps(header).replace('"F32"', '"\\ud800"', 1).encode(),
        "NaN": json.dumps(header).replace("[0,", "[NaN,", 1).encode(),
        "a long number": b'{"a": ' + b"9" * 100_000 + b"}",
    }
    what = rng.choice(list(texts))
    return Changed(f"no header: {what}", header, numbers, raw=texts[what])


def _wrong_length(header: Header, numbers: bytes, rng: random.Random) -> Changed:
    length = rng.choice([0, 1, 2, 7, 2**20, 2**31, 2**40, 2**63, 2**64 - 1])
    return Changed(f"the header's length is {length}", header, numbers, length=length)


_WAYS: tuple[Callable[[Header, bytes, random.Random], Changed], ...] = (
    _another_kind,
    _another_kind,
    _smaller_numbers,
    _larger_numbers,
    _another_shape,
    _another_shape,
    _other_offsets,
    _other_offsets,
    _huge,
    _other_names,
    _not_finite,
    _extreme,
    _no_metadata,
    _other_metadata,
    _other_metadata,
    _other_numbers,
    _no_header,
    _wrong_length,
)
