"""Where a recipe's captioned images come from: the user's files, or scenes that the package draws."""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from saccade.base.errors import InputError
from saccade.base.fingerprint import fingerprint
from saccade.metrics import caption_words
from saccade.tasks.captioning.public import PUBLIC
from saccade.tasks.captioning.recipe import CaptionDataSettings
from saccade.tasks.public_set import brought_by
from saccade.vision import CaptionedImage, Scene, make_scenes, read_captions, read_names


class CaptionSplits(NamedTuple):
    """Captioned images to learn from and to validate with; of made ones, the scenes themselves."""

    train: list[CaptionedImage]
    valid: list[CaptionedImage]
    scenes: Mapping[str, Scene] = MappingProxyType({})  # by the name of the image
    folder: Path | None = None  # that the images are in, if they are files

    def fingerprint(self) -> str:
        """A short text that other images and captions do not have, wherever their folder lies.

        Of an image's file it takes the name within the folder and the size: there may be too many to be read for this.
        """
        folder = None if self.folder is None else self.folder.absolute()

        def said(one: CaptionedImage) -> str:
            # of a made scene, the name says all
            file = [one.image] if folder is None else _name_and_size(Path(one.image).absolute(), folder)
            return json.dumps([*file, one.captions, one.nouns])

        parts = (self.train, self.valid)
        return fingerprint(text for part in parts for text in (str(len(part)), *map(said, part)))


def _name_and_size(image: Path, folder: Path) -> list[str | int | None]:
    """None for the size where there is no such file."""
    name = image.relative_to(folder).as_posix() if image.is_relative_to(folder) else str(image)
    try:
        return [name, image.stat().st_size]
    except OSError:
        return [name, None]


def load_caption_splits(
    settings: CaptionDataSettings, tell: Callable[[str], None] = lambda text: None, *, side: int
) -> CaptionSplits:
    """Read which images and captions there are, or draw scenes of `side` x `side` pixels.

    `tell` is told what is left out of the images.
    """
    if settings.make is not None:
        return _made(settings, side)
    assert settings.images is not None
    assert settings.captions is not None
    folder = Path(settings.images)
    if not folder.is_dir():
        get = brought_by(folder, PUBLIC)
        raise InputError(f"{folder}: no such folder{get}; say where your images are: data.images=DIR")
    if not Path(settings.captions).is_file():
        get = brought_by(settings.captions, PUBLIC)
        raise InputError(f"{settings.captions}: no such file{get}; say where your captions are: data.captions=FILE")
    known = _with_words(read_captions(Path(settings.captions)), settings, tell)
    train, valid = _split(known, settings, tell)
    return CaptionSplits(_inside(folder, train), _inside(folder, valid), {}, folder)


def _with_words(
    found: list[CaptionedImage], settings: CaptionDataSettings, tell: Callable[[str], None]
) -> list[CaptionedImage]:
    """The images with their captions made tidy; a caption in which nothing is left is left out."""
    tidy = [one._replace(captions=_tidy(one.captions, settings)) for one in found]
    known = [one for one in tidy if one.captions]
    total, kept = (sum(len(one.captions) for one in images) for images in (found, known))
    if kept < total:
        first = next(
            one.image for one, after in zip(found, tidy, strict=True) if len(after.captions) < len(one.captions)
        )
        without = f" and {len(found) - len(known):,} images without any other" if len(known) < len(found) else ""
        tell(
            f"{settings.captions}: {total - kept:,} of {total:,} captions{without} are left out, for they have no word;"
            f" the first is of {first}"
        )
    return known


def _inside(folder: Path, images: list[CaptionedImage]) -> list[CaptionedImage]:
    return [one._replace(image=str(folder / one.image)) for one in images]


def _tidy(captions: Iterable[str], settings: CaptionDataSettings) -> list[str]:
    texts = (" ".join(caption_words(text)) if settings.lowercase else " ".join(text.split()) for text in captions)
    return [text for text in texts if text]


def _split(
    known: list[CaptionedImage], settings: CaptionDataSettings, tell: Callable[[str], None]
) -> tuple[list[CaptionedImage], list[CaptionedImage]]:
    valid_names = None if settings.valid is None else _named(settings.valid, known, settings, tell)
    train_names = (
        [one.image for one in known] if settings.train is None else _named(settings.train, known, settings, tell)
    )
    if valid_names is None:
        names = sorted(set(train_names))
        if len(names) < 2:
            raise InputError(f"{settings.captions}: one image is too few to train and to validate; give data.valid")
        rng = random.Random(f"hold out {settings.seed}")
        valid_names = rng.sample(names, min(settings.validation_size, max(len(names) // 10, 1)))
    elif settings.train is not None:
        _tell_shared(train_names, valid_names, settings, tell)
    for_valid = set(valid_names)
    for_train = set(train_names) - for_valid
    parts = tuple([one for one in known if one.image in names] for names in (for_train, for_valid))
    for part, name in zip(parts, ("train", "valid"), strict=True):
        if not part:
            raise InputError(f"data.{name}: none of its images has a caption in {settings.captions}")
    return parts[0], parts[1]


def _tell_shared(
    train: Sequence[str], valid: Sequence[str], settings: CaptionDataSettings, tell: Callable[[str], None]
) -> None:
    among_valid = set(valid)
    shared = [name for name in train if name in among_valid]
    if shared:
        tell(
            f"{settings.train}: {len(shared):,} of {len(train):,} images are in {settings.valid}, too, and are not"
            f" learnt from; the first is {shared[0]}"
        )


def _named(
    which: str, known: Sequence[CaptionedImage], settings: CaptionDataSettings, tell: Callable[[str], None]
) -> list[str]:
    """The images that a list of names, or a split of the captions' own, means."""
    splits = {one.split for one in known if one.split is not None}
    if which in splits:
        return [one.image for one in known if one.split == which]
    if not Path(which).is_file():
        own = f", nor one of the splits {', '.join(sorted(splits))} of {settings.captions}" if splits else ""
        raise InputError(f"{which}: no such file{own}; wanted a file with the name of an image a line")
    names, images = read_names(Path(which)), {one.image for one in known}
    strange = [name for name in names if name not in images]
    if strange:
        tell(
            f"{which}: {len(strange):,} of {len(names):,} images have no caption in {settings.captions} and are left"
            f" out; the first is {strange[0]}"
        )
    return names


def _made(settings: CaptionDataSettings, side: int) -> CaptionSplits:
    scenes: dict[str, Scene] = {}
    parts: list[list[CaptionedImage]] = []
    for part, count in (("train", settings.scenes), ("valid", settings.validation_size)):
        made = make_scenes(count, seed=f"{part} {settings.seed}", side=side)
        named = {f"shapes {part} {settings.seed} {number} {side}": scene for number, scene in enumerate(made)}
        scenes |= named
        parts.append([CaptionedImage(name, [scene.caption], nouns=tuple(scene.nouns)) for name, scene in named.items()])
    return CaptionSplits(parts[0], parts[1], scenes)
