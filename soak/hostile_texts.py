"""Settings and vocabularies that nobody writes by mistake, and some that somebody might."""

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml

from saccade.text import SPECIAL


class Text(NamedTuple):
    """The content of a file, and whether nothing but a refusal will do."""

    what: str
    content: bytes
    wrong: bool = True


# Nine of the line above on each line: as lists, ten lines are more than any memory holds.
_ALIASES = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    f"{name}: &{name} [{','.join(9 * [f'*{above}'])}]\n".encode()
    for above, name in zip("abcdefghi", "bcdefghij", strict=True)
)

# None of these are settings.
_NO_SETTINGS: dict[str, bytes] = {
    "deep lists": b"[" * 100_000,
    "deep names": "".join(f"{' ' * depth}a:\n" for depth in range(900)).encode(),
    "deep flow": b"{a: " * 20_000,
    "aliases of aliases": _ALIASES,
    "an alias of itself": b"a: &a [*a]\n",
    "merged with itself": b"a: &a\n  <<: *a\n",
    "a tag that runs": b"!!python/object/apply:os.system ['exit 7']\n",
    "a tag of a set": b"!!set {a, b}\n",
    "half a character": b'format: 1\ntask: "\\uD800"\n',
    "no character": b'format: 1\ntask: "\\UFFFFFFFF"\n',
    "20,000 names": b"format: 1\n" + b"".join(b"name%d: 1\n" % number for number in range(20_000)),
    "many commas": b"a: [" + b"," * 500_000,
    "a long word": b"format: 1\ntask: " + b"x" * 900_000,
    "too long": b"task: " + b"x" * 2_000_000,
    "a long number": b"format: 1\ntask: " + b"9" * 100_000,
    "nothing": b"",
    "null": b"null\n",
    "a list": b"- a\n- b\n",
    "a number": b"7\n",
    "two documents": b"---\na: 1\n---\nb: 2\n",
    "no UTF-8": b"\xff\xfe\x00",
    "UTF-16": "task: translation\n".encode("utf-16"),
    "NUL": b"format: 1\ntask: \0\n",
    "a list for a name": b"? [a, b]\n: c\n",
    "a name twice": b"format: 1\ntask: translation\ntask: captioning\n",
    "tabs": b"task:\n\t- a\n",
    "quotes without end": b'task: "abc\n',
    "a directive": b"%YAML 9.9\n---\ntask: x\n",
    "another task": b"format: 1\ntask: nothing\n",
    "a task that is a list": b"format: 1\ntask: [translation]\n",
    "a task alone": b"format: 1\ntask: translation\n",
    "no format": b"task: translation\n",
    "another format": b"format: 2\ntask: translation\n",
    "a format that is a list": b"format: [1]\ntask: translation\n",
}

_VALUES: tuple[Any, ...] = (
    0,
    -1,
    1,
    2,
    3,
    65_535,
    65_536,
    65_537,
    10**9,
    2**31,
    2**63,
    10**400,
    0.5,
    -0.5,
    1.0,
    1e308,
    float("inf"),
    float("nan"),
    True,
    None,
    "",
    "x",
    "none",
    "rnn",
    "../../etc/passwd",
    "x" * 10_000,
    "\u202e\u0301\x07",
    [],
    [1],
    [65_536] * 3,
    [8] * 10_000,
    {},
    {"kind": "x"},
    [[[[]]]],
)
# With another of these, a net has other shapes.
_SIZES = ("dim", "embedding", "feed_forward", "locations")


def settings(text: str, rng: random.Random) -> Text:
    """Settings in place of those of a model, which are `text`."""
    kind = rng.random()
    if kind < 0.35:
        name = rng.choice(list(_NO_SETTINGS))
        return Text(name, _NO_SETTINGS[name])
    if kind < 0.45:
        name = rng.choice(list(_NO_SETTINGS))
        return Text(f"{name}, after the model's own", text.encode() + _NO_SETTINGS[name], wrong=False)
    values = yaml.safe_load(text)
    if kind < 0.6:
        sizes = [(group, name) for group, name in _leaves(values) if name in _SIZES or name == "channels"]
        if sizes:
            group, name = rng.choice(sizes)
            group[name] = [65_536, 65_536] if name == "channels" else 65_536
            return Text(f"{name}: 65536", yaml.safe_dump(values).encode())
    group, name = rng.choice(list(_leaves(values)))
    if kind < 0.68:
        del group[name]
        return Text(f"without {name}", yaml.safe_dump(values).encode(), wrong=False)
    if kind < 0.75:
        group[rng.choice(["strange", "Dim", "dim ", "__class__", "model_config", "\u202e"])] = 1
        return Text("a strange name", yaml.safe_dump(values).encode())
    value = rng.choice(_VALUES)
    group[name] = value
    return Text(f"{name}: {repr(value)[:80]}", yaml.safe_dump(values).encode(), wrong=False)


def _leaves(values: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each setting, with the group that it stands in; the groups as well."""
    for name, value in values.items():
        yield values, name
        if isinstance(value, dict):
            yield from _leaves(value)


def words(content: bytes, rng: random.Random) -> Text:
    """A list of words in place of `content`."""
    lines = content.removesuffix(b"\n").split(b"\n")
    first = len(SPECIAL) if lines[0] == SPECIAL[0].encode() else 0
    index = rng.randrange(first, len(lines))
    other = rng.choice([line for line in lines[first:] if line != lines[index]] or [b"x"])
    changes: dict[str, Callable[[], Text]] = {
        "a word less": lambda: Text("", _joined([*lines[:index], *lines[index + 1 :]])),
        "a word more": lambda: Text("", _joined([*lines[:index], b"another", *lines[index:]])),
        "a million more": lambda: Text("", _joined([*lines, *(b"new%d" % number for number in range(1_000_000))])),
        "nothing": lambda: Text("", b""),
        "lines without words": lambda: Text("", b"\n" * 1000),
        "no UTF-8": lambda: Text("", _joined([*lines[:index], b"\xff\xfe", *lines[index + 1 :]])),
        "a word twice": lambda: Text("", _joined([*lines[:index], other, *lines[index + 1 :]]), wrong=False),
        "an empty word": lambda: Text("", _joined([*lines[:index], b"", *lines[index + 1 :]]), wrong=False),
        "a long word": lambda: Text("", _joined([*lines[:index], b"x" * 1_000_000, *lines[index + 1 :]]), wrong=False),
        "control characters": lambda: Text(
            "", _joined([*lines[:index], b"\0\x07\x1b[2J\r\t", *lines[index + 1 :]]), wrong=False
        ),
        "ends of DOS": lambda: Text("", b"\r\n".join([*lines, b""]), wrong=False),
        "another order": lambda: Text("", _joined([*lines[:first], *reversed(lines[first:])]), wrong=False),
    }
    if first:
        changes["no special words"] = lambda: Text("", _joined([*reversed(lines[:first]), *lines[first:]]))
    what = rng.choice(list(changes))
    return changes[what]()._replace(what=what)


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def pieces(content: bytes, rng: random.Random) -> Text:
    """A model of sentencepiece in place of `content`; what is flipped in it may still be one."""
    kind = rng.choice(["flipped", "cut", "random", "nothing", "inserted"])
    changed = bytearray(content)
    if kind == "flipped":
        for bit in rng.sample(range(8 * len(content)), rng.randint(1, 8)):
            changed[bit // 8] ^= 1 << bit % 8
    elif kind == "cut":
        del changed[rng.randrange(len(changed)) :]
    elif kind == "random":
        changed = bytearray(rng.randbytes(len(content)))
    elif kind == "inserted":
        index = rng.randrange(len(content))
        changed[index:index] = rng.randbytes(rng.randint(1, 64))
    else:
        changed.clear()
    return Text(f"pieces, {kind}", bytes(changed), wrong=False)
