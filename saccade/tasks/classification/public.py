"""The public sets of images with a class each: MNIST and CIFAR-10."""

import re
from pathlib import Path, PurePosixPath

import numpy as np

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.tasks.public_set import PublicSet, Published
from saccade.vision import as_png
from saccade.vision.labelled import IMAGE_ENDINGS

_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"

MNIST = PublicSet(
    name="mnist",
    about="handwritten digits (LeCun 1998)",
    rights="CC BY-SA 3.0",
    page="http://yann.lecun.com/exdb/mnist",
    files=[
        Published(f"{_MNIST}{name}.gz", sha256)
        for name, sha256 in {
            "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        }.items()
    ],
    megabytes=12,
    most_megabytes=64,
)

# CIFAR-10's own numbers of its classes
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_IMAGES = {"train": 5000, "test": 1000}  # of each class
_BATCH = re.compile(r"(data_batch_[1-5]|test_batch)\.bin")
_RECORD = 1 + 3 * 32 * 32  # bytes: the class, then red, green and blue


def _place(path: PurePosixPath) -> str | None:
    """CIFAR-10's own binary batches, or a folder of images for each class in `train` and in `test`."""
    if _BATCH.fullmatch(path.name):
        return path.name
    part, label = path.parts[-3:-1] if len(path.parts) > 2 else ("", "")
    is_image = path.suffix.lower() in IMAGE_ENDINGS
    return f"{part}/{label}/{path.name}" if is_image and part in _IMAGES and label in CLASSES else None


def draw_batches(folder: Path) -> None:
    """Make an image of each record of the binary batches, `train/cat/00017.png`, and remove the batches."""
    for batch in sorted(folder.glob("*_batch*.bin")):
        content = np.frombuffer(batch.read_bytes(), dtype=np.uint8)
        if len(content) % _RECORD:
            raise InputError(f"{batch.name}: not whole records of {_RECORD:,} bytes; get it anew")
        part = "test" if batch.name.startswith("test") else "train"
        first = 0 if part == "test" else 10_000 * (int(batch.stem[-1]) - 1)
        for number, record in enumerate(content.reshape(-1, _RECORD), start=first + 1):
            if record[0] >= len(CLASSES):
                raise InputError(f"{batch.name}: found class {record[0]}, wanted 0 to {len(CLASSES) - 1}; get it anew")
            path = folder / part / CLASSES[record[0]] / f"{number:05}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(as_png(record[1:].reshape(3, 32, 32).transpose(1, 2, 0)))
        batch.unlink()


def _check(folder: Path) -> str:
    total: list[str] = []
    for part, wanted in _IMAGES.items():
        for name in CLASSES:
            found = len(list((folder / part / name).glob("[!.]*")))
            if found != wanted:
                raise InputError(f"cifar10: {counted(found, 'image')} in {part}/{name}, wanted {wanted:,}; get it anew")
        total.append(f"{wanted * len(CLASSES):,} in {part}")
    return f"images of {len(CLASSES)} classes, {' and '.join(total)}"


CIFAR10 = PublicSet(
    name="cifar10",
    about="60,000 photographs of 32 x 32 pixels in 10 classes (Krizhevsky 2009)",
    rights="none stated",
    page="https://www.cs.toronto.edu/~kriz/cifar.html",
    files=[
        Published(
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        )
    ],
    megabytes=170,
    most_megabytes=512,
    place=_place,
    archives=["cifar*10*"],
    finish=draw_batches,
    check=_check,
)

PUBLIC = (MNIST, CIFAR10)
