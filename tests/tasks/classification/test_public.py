"""MNIST and CIFAR-10 by name: the published batches become folders of images; the real files where they are."""

from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from PIL import Image

from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.tasks.classification import public
from saccade.tasks.classification.public import CIFAR10, CLASSES, draw_batches
from saccade.vision.labelled import read_labelled

SHARED = Path(__file__).parents[4] / "shared" / "data"


def test_batches_become_an_image_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Laid out as the authors say: the class, then 1024 bytes of red, of green and of blue, row by row."""
    rng = np.random.default_rng(0)
    pixels = {name: rng.integers(0, 256, (20, 32, 32, 3), dtype=np.uint8) for name in ("data_batch_2", "test_batch")}
    labels = np.arange(20, dtype=np.uint8) % 10
    for name, images in pixels.items():
        records = [
            bytes([label]) + b"".join(image[..., colour].tobytes() for colour in range(3))
            for label, image in zip(labels.tolist(), images, strict=True)
        ]
        (tmp_path / f"{name}.bin").write_bytes(b"".join(records))
    draw_batches(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test", "train"]
    with Image.open(tmp_path / "train" / "bird" / "10013.png") as image:  # the 13th of the second batch
        np.testing.assert_array_equal(np.asarray(image), pixels["data_batch_2"][12])
    monkeypatch.setattr(public, "_IMAGES", {"train": 2, "test": 2})
    assert CIFAR10.check is not None
    assert CIFAR10.check(tmp_path) == "images of 10 classes, 20 in train and 20 in test"
    found, bad = read_labelled(tmp_path / "test", side=32)
    assert found.classes == list(CLASSES)
    assert bad == []
    np.testing.assert_array_equal(found.pixels[0], pixels["test_batch"][0])

    (tmp_path / "test" / "cat" / "00004.png").unlink()
    with pytest.raises(InputError, match="cifar10: 1 image in test/cat, wanted 2"):
        CIFAR10.check(tmp_path)


@pytest.mark.parametrize(
    ("content", "says"), [(b"\x01" * 3072, "not whole records"), (b"\x0a" * 3073, "found class 10")]
)
def test_what_is_no_batch_is_refused(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "data_batch_1.bin").write_bytes(content)
    with pytest.raises(InputError, match=f"data_batch_1.bin: {says}"):
        draw_batches(tmp_path)


def test_what_is_taken_of_a_folder() -> None:
    place = CIFAR10.place
    assert place is not None
    taken = {
        "cifar-10-batches-bin/data_batch_5.bin": "data_batch_5.bin",
        "cifar-10-batches-bin/test_batch.bin": "test_batch.bin",
        "x/train/cat/1.jpg": "train/cat/1.jpg",
        "test/ship/../1.jpg": None,
        "x/train/cow/1.jpg": None,
        "data_batch_6.bin": None,
        "cifar-10-batches-py/data_batch_1": None,
    }
    assert {path: place(PurePosixPath(path)) for path in taken} == taken


def test_the_real_digits_are_those_that_are_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not (SHARED / "mnist").is_dir():
        pytest.skip("no MNIST in ../shared/data")
    assert main(["data", "get", "mnist", "--out", str(tmp_path), "--from", str(SHARED / "mnist")]) == 0
    assert capsys.readouterr().out == f"{tmp_path}: 4 files, as published\n"
    assert (tmp_path / "train-images-idx3-ubyte").stat().st_size == 47_040_016
