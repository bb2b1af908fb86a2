"""Flickr8k by name, on a small one of the same form."""

from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest

from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.tasks.captioning import public
from saccade.tasks.captioning.public import FLICKR8K

TRAIN, DEV, TEST = ["a.jpg", "b.jpg", "c.jpg"], ["d.jpg"], ["e.jpg"]


@pytest.fixture
def archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both archives, with three images to train on, and with what there is besides in the published ones."""
    monkeypatch.setattr(public, "_LISTS", {"Flickr_8k.trainImages.txt": 3, "Flickr_8k.devImages.txt": 1})
    there = tmp_path / "there"
    there.mkdir()
    with ZipFile(there / "Flickr8k_Dataset.zip", "w") as archive:
        for name in (*TRAIN, *DEV, *TEST):
            archive.writestr(f"Flicker8k_Dataset/{name}", b"an image")
            archive.writestr(f"__MACOSX/Flicker8k_Dataset/._{name}", b"none")
    with ZipFile(there / "Flickr8k_text.zip", "w") as archive:
        captions = [f"{name}#{number}\tA dog .\n" for name in (*TRAIN, *DEV, *TEST) for number in range(5)]
        archive.writestr("Flickr8k.token.txt", "".join(captions))
        for part, names in (("train", TRAIN), ("dev", DEV), ("test", TEST)):
            archive.writestr(f"Flickr_8k.{part}Images.txt", "".join(f"{name}\n" for name in names))
        archive.writestr("Flickr8k.lemma.token.txt", "not wanted")
    return there


def get(there: Path, here: Path) -> int:
    return main(["data", "get", "flickr8k", "--from", str(there), "--out", str(here)])


def test_both_archives_become_what_the_recipe_takes(
    archives: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = tmp_path / "here"
    assert get(archives, here) == 0
    assert "here: 5 images, 5 captions of each; no checksum is known" in capsys.readouterr().out
    assert sorted(path.name for path in (here / "images").iterdir()) == [*TRAIN, *DEV, *TEST]
    assert sorted(path.name for path in here.glob("*.txt")) == [
        "Flickr8k.token.txt",
        "Flickr_8k.devImages.txt",
        "Flickr_8k.testImages.txt",
        "Flickr_8k.trainImages.txt",
    ]
    again = tmp_path / "again"  # of a folder that has it unpacked
    assert get(here, again) == 0
    (again / "images" / "b.jpg").unlink()
    assert FLICKR8K.check is not None
    with pytest.raises(InputError, match=r"1 of 3 images of Flickr_8k\.trainImages\.txt are not there, such as b\.jpg"):
        FLICKR8K.check(again)


def test_half_of_it_is_refused(archives: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (archives / "Flickr8k_text.zip").unlink()
    assert get(archives, tmp_path / "here") == 2
    assert "no file Flickr8k.token.txt; it is in Flickr8k_text.zip" in capsys.readouterr().err
    assert not (tmp_path / "here").exists()


def test_captions_are_counted(archives: Path, tmp_path: Path) -> None:
    assert get(archives, tmp_path / "here") == 0
    path = tmp_path / "here" / "Flickr8k.token.txt"
    path.write_text(path.read_text().replace("c.jpg#4\tA dog .\n", ""))
    assert FLICKR8K.check is not None
    with pytest.raises(InputError, match=r"4 captions of c\.jpg in Flickr8k\.token\.txt, wanted 5"):
        FLICKR8K.check(tmp_path / "here")


def test_what_is_taken_of_a_folder() -> None:
    assert FLICKR8K.place is not None
    assert FLICKR8K.place(PurePosixPath("images/a.webp")) == "images/a.webp"
    assert FLICKR8K.place(PurePosixPath("elsewhere/a.webp")) is None
