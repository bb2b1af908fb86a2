"""Flickr8k, by its name."""

from pathlib import Path, PurePosixPath

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.tasks.public_set import PublicSet, Published
from saccade.vision import read_captions, read_names

_CAPTIONS = "Flickr8k.token.txt"
_LISTS = {"Flickr_8k.trainImages.txt": 6000, "Flickr_8k.devImages.txt": 1000}  # and how many images each names
_TEST = "Flickr_8k.testImages.txt"
_IMAGES = ("images", "flicker8k_dataset", "flickr8k_dataset")  # the archive has the first of the long ones
_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".webp"})
_EACH = 5  # captions of an image


def _place(path: PurePosixPath) -> str | None:
    if path.name in (_CAPTIONS, _TEST, *_LISTS):
        return path.name
    is_image = path.suffix.lower() in _ENDINGS and not path.name.startswith(".")
    return f"images/{path.name}" if is_image and path.parent.name.lower() in _IMAGES else None


def _check(folder: Path) -> str:
    """Every image of the lists is there, and has its five captions; the images for the test may be missing."""
    for name in (_CAPTIONS, *_LISTS):
        if not (folder / name).is_file():
            raise InputError(f"flickr8k: no file {name}; it is in Flickr8k_text.zip")
    captions = {one.image: len(one.captions) for one in read_captions(folder / _CAPTIONS)}
    images = {path.name for path in (folder / "images").glob("*")}
    for name, wanted in _LISTS.items():
        listed = read_names(folder / name)
        if len(set(listed)) != wanted:
            raise InputError(f"flickr8k: {counted(len(set(listed)), 'image')} in {name}, wanted {wanted:,}")
        lost = [one for one in listed if one not in images]
        if lost:
            raise InputError(
                f"flickr8k: {len(lost):,} of {wanted:,} images of {name} are not there, such as {lost[0]}; they are in"
                " Flickr8k_Dataset.zip"
            )
        for one in listed:
            if (found := captions.get(one, 0)) != _EACH:
                raise InputError(f"flickr8k: {counted(found, 'caption')} of {one} in {_CAPTIONS}, wanted {_EACH}")
    return f"{counted(len(images), 'image')}, {_EACH} captions of each"


FLICKR8K = PublicSet(
    name="flickr8k",
    about="8,000 photographs with five captions each (Hodosh 2013)",
    rights="non-commercial research; cite the paper",
    page="https://github.com/jbrownlee/Datasets/releases/tag/Flickr8k",
    files=[
        Published(f"https://github.com/jbrownlee/Datasets/releases/download/Flickr8k/{name}")
        for name in ("Flickr8k_Dataset.zip", "Flickr8k_text.zip")
    ],
    megabytes=1120,
    most_megabytes=2048,
    place=_place,
    check=_check,
)

PUBLIC = (FLICKR8K,)
