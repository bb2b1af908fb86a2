"""Images with a class each: a folder for every class, MNIST's own files, or what the package draws."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saccade.base.compressed import unpacked
from saccade.base.errors import InputError
from saccade.base.files import read_file
from saccade.vision.images import read_image

IMAGE_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
_BESIDE = frozenset({".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".html", ".db", ".ini"})  # no images
_MOST_BYTES = 1 << 30
_KINDS = {1: 8, 3: 16}  # dimensions of an idx file, and how long its head is


class LabelledImages(NamedTuple):
    """Images of one size and what they are."""

    pixels: NDArray[np.uint8]  # [N, side, side, 3]
    labels: NDArray[np.int64]  # [N], indices in `classes`
    classes: list[str]

    def select(self, indices: NDArray[np.int64]) -> "LabelledImages":
        return LabelledImages(self.pixels[indices], self.labels[indices], self.classes)


def read_labelled(
    path: Path, *, side: int, tell: Callable[[int, int], None] = lambda done, total: None
) -> tuple[LabelledImages, list[str]]:
    """The images of a folder of classes, or of an idx file; and a line for each image that is left out.

    What is hidden, and notes and lists beside the images, are not looked at.
    """
    if path.is_dir():
        return _read_folders(path, side, tell)
    if "images-idx3" not in path.name:
        raise InputError(
            f"{path}: wanted a folder with a folder of images for each class, or MNIST's images (*images-idx3-ubyte*)"
        )
    return _read_mnist(path, side), []


def read_idx(path: Path) -> NDArray[np.uint8]:
    """The array of an idx file, packed or not, as MNIST comes: `[N]` or `[N, rows, columns]`."""
    content = unpacked(read_file(path), str(path), most=_MOST_BYTES)
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


def _read_mnist(path: Path, side: int) -> LabelledImages:
    images = read_idx(path)
    beside = path.with_name(path.name.replace("images-idx3", "labels-idx1"))
    if not beside.exists():
        raise InputError(f"{beside}: no such file; the labels have to lie beside {path.name}")
    labels = read_idx(beside)
    if images.ndim != 3 or labels.shape != images.shape[:1] or not len(images):
        raise InputError(f"{path}: found {list(images.shape)} images and {list(labels.shape)} labels beside them")
    if images.shape[1:] != (side, side):
        raise InputError(f"{path}: images of {images.shape[1]} × {images.shape[2]}; set model.image_size to that")
    classes = [str(number) for number in range(int(labels.max()) + 1)]
    return LabelledImages(np.repeat(images[..., None], 3, axis=-1), labels.astype(np.int64), classes)


def _read_folders(path: Path, side: int, tell: Callable[[int, int], None]) -> tuple[LabelledImages, list[str]]:
    classes = [one.name for one in _visible(path) if one.is_dir()]
    inside = [(file, label) for label, name in enumerate(classes) for file in _visible(path / name)]
    files = [(file, label) for file, label in inside if _is_called_an_image(file)]
    if len(classes) < 2 or not files:
        raise InputError(f"{path}: wanted at least two folders there, one for each class, with images in them")
    bad = _not_looked_at(path, classes, [file for file, _ in inside])
    pixels = np.empty((len(files), side, side, 3), dtype=np.uint8)
    labels: list[int] = []
    for done, (file, label) in enumerate(files, start=1):
        try:
            pixels[len(labels)] = read_image(file, side=side)
            labels.append(label)
        except InputError as error:
            bad.append(str(error))
        tell(done, len(files))
    if not labels:
        raise InputError(f"{path}: none of its images can be read; {bad[0]}")
    return LabelledImages(pixels[: len(labels)], np.array(labels, dtype=np.int64), classes), bad


def _visible(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if not one.name.startswith("."))


def _is_called_an_image(file: Path) -> bool:
    return file.suffix.lower() in IMAGE_ENDINGS


def _not_looked_at(path: Path, classes: list[str], inside: list[Path]) -> list[str]:
    """A line for each thing in and beside the folders of the classes that somebody may think is learnt from."""
    outside = [one for one in _visible(path) if _is_called_an_image(one) and not one.is_dir()]
    lines = [f"{one}: not in the folder of a class" for one in outside]
    with_images = {file.parent.name for file in inside if _is_called_an_image(file)}
    lines += [f"{path / name}: no images there" for name in classes if name not in with_images]
    for one in inside:
        if one.is_dir():
            lines.append(f"{one}: a folder within that of a class; it is not searched")
        elif not _is_called_an_image(one) and one.suffix.lower() not in _BESIDE:
            lines.append(f"{one}: not called like an image; wanted one of {', '.join(sorted(IMAGE_ENDINGS))}")
    return lines
