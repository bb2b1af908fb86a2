"""Folders of classes: what of them is learnt from, and what is not."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.vision import as_png, read_labelled
from saccade.vision.labelled import read_idx

GREY = as_png(np.full((8, 8), 100, dtype=np.uint8))


def folders(path: Path, *classes: str) -> Path:
    """A folder of each class, with one image in it."""
    for name in classes:
        (path / name).mkdir(parents=True)
        (path / name / "a.png").write_bytes(GREY)
    return path


def test_what_might_be_taken_for_an_image_is_named(tmp_path: Path) -> None:
    photos = folders(tmp_path / "photos", "cat", "dog")
    (photos / "cat" / "b.HEIC").touch()
    (photos / "cat" / "c").touch()
    (photos / "dog" / "more").mkdir()
    (photos / "pig").mkdir()
    (photos / "e.jpg").touch()
    found, bad = read_labelled(photos, side=8)
    assert found.labels.tolist() == [0, 1]
    assert found.classes == ["cat", "dog", "pig"]
    assert [line.removeprefix(f"{photos}/").partition(",")[0].partition(";")[0] for line in bad] == [
        "e.jpg: not in the folder of a class",
        "pig: no images there",
        "cat/b.HEIC: not called like an image",
        "cat/c: not called like an image",
        "dog/more: a folder within that of a class",
    ]


def test_what_is_hidden_and_what_lies_beside_images_is_passed_over(tmp_path: Path) -> None:
    photos = folders(tmp_path / "photos", "cat", "dog", ".ipynb_checkpoints")
    for name in ("cat/notes.txt", "cat/.DS_Store", "cat/._a.png", "dog/Thumbs.db", "labels.csv"):
        (photos / name).write_bytes(b"no image")
    found, bad = read_labelled(photos, side=8)
    assert found.classes == ["cat", "dog"]
    assert bad == []


def test_an_idx_file_is_unpacked_from_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(b"\x00\x00\x08\x01\x00\x00\x00\x03") + gzip.compress(b"\x05\x06\x07"))
    assert read_idx(path).tolist() == [5, 6, 7]
    monkeypatch.setattr("saccade.vision.labelled._MOST_BYTES", 1 << 20)
    path.write_bytes(gzip.compress(bytes(2 << 20)))
    with pytest.raises(InputError, match="more than 1 MB when it is unpacked"):
        read_idx(path)
