"""Where a recipe's captioned images come from: the user's files, or scenes that the package draws."""

import hashlib
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from saccade.data import Captioned, Scene, make_scenes, read_captions, read_names
from saccade.errors import InputError
from saccade.metrics import caption_words
from saccade.settings import Settings


class CaptionDataSettings(Settings):
    """What is learnt from."""

    images: str | None = None  # the folder of the images
    captions: str | None = None  # CSV, TSV, JSON lines, Flickr8k's token file, or Karpathy's JSON
    train: str | None = None  # a file with the names of images to learn from, or a split that captions names
    valid: str | None = None  # the same; without it, hold_out images are kept aside
    bad_images: Literal["skip", "stop"] = "skip"  # what to do about those that cannot be read
    lower: bool = True  # captions in lower case and without punctuation, as they are scored
    make: Literal["shapes"] | None = None  # in place of images: scenes with exact captions
    scenes: Annotated[int, Field(ge=10, le=1_000_000)] = 8000  # of made ones
    seed: int = 0  # of made scenes, and of what is held out
    hold_out: Annotated[int, Field(ge=1)] = 500  # images for validation
    cache: str | None = None  # where what the eye sees is kept; without it, in the user's cache

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.make is None and (self.images is None or self.captions is None):
            raise ValueError(
                "wanted images and captions, such as data.images=photos data.captions=captions.csv,"
                " or make, such as data.make=shapes"
            )
        if self.make is not None and (self.images is not None or self.captions is not None):
            raise ValueError("wanted either images and captions, or make, and not both; data.make=null for your own")
        return self


class CaptionSplits(NamedTuple):
    """Captioned images to learn from and to validate with; of made ones, the scenes themselves."""

    train: list[Captioned]
    valid: list[Captioned]
    scenes: dict[str, Scene]  # by the name of the image

    def fingerprint(self) -> str:
        """A short text that other images and captions do not have."""
        digest = hashlib.sha256()
        for part in (self.train, self.valid):
            digest.update(f"{len(part)}\n".encode())
            for one in part:
                digest.update("\t".join([Path(one.image).name, *one.captions, "\n"]).encode(errors="surrogatepass"))
        return digest.hexdigest()[:16]


def load_caption_splits(settings: CaptionDataSettings, *, side: int) -> CaptionSplits:
    """Read which images and captions there are, or draw scenes of `side` x `side` pixels."""
    if settings.make is not None:
        return _made(settings, side)
    assert settings.images is not None
    assert settings.captions is not None
    folder = Path(settings.images)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; say where your images are: data.images=DIR")
    if not Path(settings.captions).is_file():
        raise InputError(f"{settings.captions}: no such file; say where your captions are: data.captions=FILE")
    known = [one._replace(captions=_tidy(one.captions, settings)) for one in read_captions(Path(settings.captions))]
    known = [one for one in known if one.captions]
    train, valid = _split(known, settings)
    return CaptionSplits(_inside(folder, train), _inside(folder, valid), {})


def _inside(folder: Path, images: list[Captioned]) -> list[Captioned]:
    return [one._replace(image=str(folder / one.image)) for one in images]


def _tidy(captions: Iterable[str], settings: CaptionDataSettings) -> list[str]:
    texts = (" ".join(caption_words(text)) if settings.lower else " ".join(text.split()) for text in captions)
    return [text for text in texts if text]


def _split(known: list[Captioned], settings: CaptionDataSettings) -> tuple[list[Captioned], list[Captioned]]:
    valid_names = None if settings.valid is None else _named(settings.valid, known, settings)
    train_names = {one.image for one in known} if settings.train is None else _named(settings.train, known, settings)
    if valid_names is None:
        if len(train_names) < 2:
            raise InputError(f"{settings.captions}: one image is too few to train and to validate; give data.valid")
        chance = random.Random(f"hold out {settings.seed}")
        valid_names = set(chance.sample(sorted(train_names), min(settings.hold_out, max(len(train_names) // 10, 1))))
    train_names -= valid_names
    parts = tuple([one for one in known if one.image in names] for names in (train_names, valid_names))
    for part, name in zip(parts, ("train", "valid"), strict=True):
        if not part:
            raise InputError(f"data.{name}: none of its images has a caption in {settings.captions}")
    return parts[0], parts[1]


def _named(which: str, known: Sequence[Captioned], settings: CaptionDataSettings) -> set[str]:
    """The images that a list of names, or a split of the captions' own, means."""
    splits = {one.split for one in known if one.split is not None}
    if which in splits:
        return {one.image for one in known if one.split == which}
    if not Path(which).is_file():
        own = f", nor one of the splits {', '.join(sorted(splits))} of {settings.captions}" if splits else ""
        raise InputError(f"{which}: no such file{own}; wanted a file with the name of an image a line")
    return set(read_names(Path(which)))


def _made(settings: CaptionDataSettings, side: int) -> CaptionSplits:
    scenes: dict[str, Scene] = {}
    parts: list[list[Captioned]] = []
    for part, count in (("train", settings.scenes), ("valid", settings.hold_out)):
        made = make_scenes(count, seed=f"{part} {settings.seed}", side=side)
        named = {f"shapes {part} {settings.seed} {number} {side}": scene for number, scene in enumerate(made)}
        scenes |= named
        parts.append([Captioned(name, [scene.caption], nouns=tuple(scene.nouns)) for name, scene in named.items()])
    return CaptionSplits(parts[0], parts[1], scenes)
