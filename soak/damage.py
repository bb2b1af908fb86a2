"""Ways to damage a model's folder, and what has to come of each."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from saccade.base.model_folder import CONFIG, WEIGHTS
from soak import hostile_headers, hostile_texts
from soak.seals import read_parts, reseal, write_raw, write_sealed

# named    it is refused, and the file in question is the first that the message names
# refused  it is refused
# either   it is refused, or answers something: whoever sealed it may have meant it
# same     it answers as the undamaged one does
Expected = Literal["named", "refused", "either", "same"]


class Damage(NamedTuple):
    """What was done to a folder."""

    what: str
    expected: Expected
    file: str = ""


Way = Callable[[Path, random.Random, list[Path]], Damage]


def damage(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    """Damage the model's folder in a way that is drawn; `others` are models to take files from."""
    (way,) = rng.choices(list(_WAYS), weights=list(_WAYS.values()))
    return way(folder, rng, others)


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _any_file(folder: Path, rng: random.Random) -> Path:
    return folder / rng.choice(files_of(folder))


def flip(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    path = _any_file(folder, rng)
    content = bytearray(path.read_bytes())
    bits = rng.sample(range(8 * len(content)), rng.randint(1, 8))
    for bit in bits:
        content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    return Damage(f"{path.name}: bits flipped: {bits}", "named", path.name)


def cut(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    path = _any_file(folder, rng)
    size = path.stat().st_size
    left = rng.choice([0, 1, 7, 8, size // 2, size - 1, rng.randrange(size)])
    os.truncate(path, left)
    return Damage(f"{path.name}: cut to {left} of {size} bytes", "named", path.name)


def insert(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    path = _any_file(folder, rng)
    content = path.read_bytes()
    offset = rng.choice([0, len(content), rng.randrange(len(content))])
    new = rng.choice([b"\n", b" ", b"\0", rng.randbytes(rng.randint(1, 64))])
    path.write_bytes(content[:offset] + new + content[offset:])
    return Damage(f"{path.name}: {new!r} inserted at {offset}", "named", path.name)


def overwrite(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    path = _any_file(folder, rng)
    size = path.stat().st_size
    path.write_bytes(bytes(size) if rng.random() < 0.5 else rng.randbytes(size))
    return Damage(f"{path.name}: other bytes, as many", "named", path.name)


def delete(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    path = _any_file(folder, rng)
    path.unlink()
    return Damage(f"{path.name}: deleted", "named", path.name)


def replace(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    """Something that is no regular file, or a very large one, in offset of a file."""
    path = _any_file(folder, rng)
    kinds = ["folder", "full folder", "fifo", "zeros", "dangling", "loop", "itself", "sparse", "longer"]
    kind = rng.choice(kinds)
    if kind == "longer":  # the same, and nothing behind it
        os.truncate(path, rng.choice([1 << 20, 1 << 28, 1 << 34, 1 << 42]))
        return Damage(f"{path.name}: made longer", "named", path.name)
    path.unlink()
    if kind in ("folder", "full folder"):
        path.mkdir()
        if kind == "full folder":
            (path / path.name).write_text("x")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(rng.choice([1 << 20, 1 << 28, 1 << 34, 1 << 42]))
    else:
        targets = {"zeros": "/dev/zero", "dangling": "nowhere", "loop": path.name, "itself": "."}
        path.symlink_to(targets[kind])
    return Damage(f"{path.name}: replaced, {kind}", "named", path.name)


def exchange(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    """A file of another model, of the same name or of another."""
    path, other = _any_file(folder, rng), rng.choice(others)
    source = _any_file(other, rng) if rng.random() < 0.3 or not (other / path.name).exists() else other / path.name
    content, before = source.read_bytes(), path.read_bytes()
    path.write_bytes(content)
    what = f"{path.name}: that of another model, {source.name} of {other.parent.parent.name}"
    if content == before:
        return Damage(what, "same")
    # whole weights of another model make all files beside them wrong: any may be named
    return Damage(what, "refused" if path.name == WEIGHTS else "named", path.name)


def shuffle(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    """Two files of the model with each other's names."""
    one, other = (folder / name for name in rng.sample(files_of(folder), 2))
    kept = one.read_bytes()
    same = kept == other.read_bytes()
    other.replace(one)
    other.write_bytes(kept)
    return Damage(f"{one.name} and {other.name}: exchanged", "same" if same else "refused")


def spoil_folder(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    shutil.rmtree(folder)
    kind = rng.choice(["gone", "empty", "file", "fifo", "dangling"])
    if kind == "empty":
        folder.mkdir()
    elif kind == "file":
        folder.write_text("x")
    elif kind == "fifo":
        os.mkfifo(folder)
    elif kind == "dangling":
        folder.symlink_to("nowhere")
    return Damage(f"the folder: {kind}", "refused")


def add_stranger(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    """What lies beside the model's files is none of its business."""
    name = rng.choice([".DS_Store", "notes.txt", ".saccade-0123456789abcdef.tmp", "model.safetensors.bak", "run.json"])
    (folder / name).write_bytes(rng.randbytes(100))
    return Damage(f"{name}: added", "same")


def link(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    """A file moved elsewhere, with a link to it in its place."""
    path = _any_file(folder, rng)
    elsewhere = folder.parent / f"elsewhere-{path.name}"
    path.replace(elsewhere)
    path.symlink_to(elsewhere)
    return Damage(f"{path.name}: a link to itself elsewhere", "same")


def rewrite_config(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    """Other settings, sealed."""
    path = folder / CONFIG
    made = hostile_texts.settings(path.read_text(encoding="utf-8"), rng)
    path.write_bytes(made.content)
    reseal(folder)
    return Damage(f"{CONFIG}, sealed: {made.what}", "refused" if made.wrong else "either")


def rewrite_vocabulary(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    """Other words, sealed; a model that has none gets other settings."""
    names = [name for name in files_of(folder) if name not in (CONFIG, WEIGHTS)]
    if not names:
        return rewrite_config(folder, rng, others)
    path = folder / rng.choice(names)
    change = hostile_texts.words if path.suffix == ".txt" else hostile_texts.pieces
    made = change(path.read_bytes(), rng)
    path.write_bytes(made.content)
    reseal(folder)
    return Damage(f"{path.name}, sealed: {made.what}", "refused" if made.wrong else "either")


def rewrite_header(folder: Path, rng: random.Random, others: list[Path]) -> Damage:
    """Other tensors, sealed, or a header that is none."""
    path = folder / WEIGHTS
    header, numbers = read_parts(path)
    made = hostile_headers.change(header, numbers, rng)
    if made.raw is None:
        write_sealed(path, made.header, made.numbers)
    else:
        write_raw(path, made.raw, made.numbers)
    if made.length is not None:
        path.write_bytes(made.length.to_bytes(8, "little") + path.read_bytes()[8:])
    return Damage(f"{WEIGHTS}, sealed: {made.what}", "refused" if made.wrong else "either")


_WAYS: dict[Way, int] = {
    flip: 30,
    cut: 10,
    insert: 10,
    overwrite: 4,
    delete: 3,
    replace: 10,
    exchange: 8,
    shuffle: 2,
    spoil_folder: 2,
    add_stranger: 2,
    link: 2,
    rewrite_config: 20,
    rewrite_vocabulary: 12,
    rewrite_header: 25,
}
