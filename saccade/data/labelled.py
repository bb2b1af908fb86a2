"""Images with a class each: a folder for every class, MNIST's own files, or what the package draws."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saccade.data.batches import Cursor
from saccade.data.images import read_image
from saccade.errors import InputError
from saccade.files import read_file

IMAGE_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
_MOST_BYTES = 1 << 30
_KINDS = {1: 8, 3: 16}  # dimensions of an idx file, and how long its head is


class Labelled(NamedTuple):
    """Images of one size and what they are."""

    pixels: NDArray[np.uint8]  # [N, side, side, 3]
    labels: NDArray[np.int64]  # [N], places in `classes`
    classes: list[str]

    def select(self, places: NDArray[np.int64]) -> "Labelled":
        return Labelled(self.pixels[places], self.labels[places], self.classes)


def read_labelled(
    path: Path, *, side: int, tell: Callable[[int, int], None] = lambda done, total: None
) -> tuple[Labelled, list[str]]:
    """The images of a folder of classes, or of an idx file; and a line for each image that cannot be read."""
    if path.is_dir():
        return _read_folders(path, side, tell)
    if "images-idx3" not in path.name:
        raise InputError(
            f"{path}: wanted a folder with a folder of images for each class, or MNIST's images (*images-idx3-ubyte*)"
        )
    return _read_mnist(path, side), []


def read_idx(path: Path) -> NDArray[np.uint8]:
    """The array of an idx file, packed or not, as MNIST comes: `[N]` or `[N, rows, columns]`."""
    content = read_file(path)
    if content[:2] == b"\x1f\x8b":
        content = _unpacked(content, path)
    dimensions = content[3] if len(content) > 3 else 0
    if content[:3] != b"\x00\x00\x08" or dimensions not in _KINDS:
        raise InputError(f"{path}: not an idx file of bytes; get it anew")
    head = _KINDS[dimensions]
    shape = tuple(int.from_bytes(content[start : start + 4], "big") for start in range(4, head, 4))
    if len(content) - head != int(np.prod(shape, dtype=np.float64)):
        raise InputError(
            f"{path}: found {len(content) - head} numbers, wanted {' × '.join(map(str, shape))}; get it anew"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=head).reshape(shape)


class ShuffledPlaces:
    """The places of `count` images in batches, another order each epoch, from a seed and a cursor alone."""

    def __init__(self, count: int, *, batch: int, seed: int) -> None:
        self.count, self.batch, self.seed = count, batch, seed

    def stream(self, cursor: Cursor) -> Iterator[tuple[NDArray[np.int64], Cursor]]:
        """The batches from `cursor` on, endlessly, each with the cursor that comes after it; a rest is left out."""
        whole = max(1, self.count // self.batch)
        while True:
            order = np.random.default_rng([self.seed, cursor.epoch]).permutation(self.count)
            for number in range(cursor.batch, whole):
                yield order[number * self.batch : (number + 1) * self.batch], Cursor(cursor.epoch, number + 1)
            cursor = Cursor(cursor.epoch + 1)


def _unpacked(content: bytes, path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            unpacked = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: not a whole gzip file ({error}); get it anew") from None
    if len(unpacked) > _MOST_BYTES:
        raise InputError(f"{path}: more than {_MOST_BYTES >> 20} MB; get it anew")
    return unpacked


def _read_mnist(path: Path, side: int) -> Labelled:
    images = read_idx(path)
    beside = path.with_name(path.name.replace("images-idx3", "labels-idx1"))
    if not beside.exists():
        raise InputError(f"{beside}: no such file; the labels have to lie beside {path.name}")
    labels = read_idx(beside)
    if images.ndim != 3 or labels.shape != images.shape[:1] or not len(images):
        raise InputError(f"{path}: found {list(images.shape)} images and {list(labels.shape)} labels beside them")
    if images.shape[1:] != (side, side):
        raise InputError(f"{path}: images of {images.shape[1]} × {images.shape[2]}; set model.image_side to that")
    classes = [str(number) for number in range(int(labels.max()) + 1)]
    return Labelled(np.repeat(images[..., None], 3, axis=-1), labels.astype(np.int64), classes)


def _read_folders(path: Path, side: int, tell: Callable[[int, int], None]) -> tuple[Labelled, list[str]]:
    classes = sorted(folder.name for folder in path.iterdir() if folder.is_dir())
    files = [
        (file, label)
        for label, name in enumerate(classes)
        for file in sorted((path / name).iterdir())
        if file.suffix.lower() in IMAGE_ENDINGS
    ]
    if len(classes) < 2 or not files:
        raise InputError(f"{path}: wanted at least two folders there, one for each class, with images in them")
    pixels = np.empty((len(files), side, side, 3), dtype=np.uint8)
    labels: list[int] = []
    bad: list[str] = []
    for done, (file, label) in enumerate(files, start=1):
        try:
            pixels[len(labels)] = read_image(file, side=side)
            labels.append(label)
        except InputError as error:
            bad.append(str(error))
        tell(done, len(files))
    if not labels:
        raise InputError(f"{path}: none of its images can be read; {bad[0]}")
    return Labelled(pixels[: len(labels)], np.array(labels, dtype=np.int64), classes), bad
