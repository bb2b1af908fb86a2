"""The images of a training, as its net wants them: encoded once, kept in a cache, looked up by name."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.base.errors import InputError
from saccade.base.files import cache_folder
from saccade.tasks.captioning.cache import FeatureCache
from saccade.tasks.captioning.data import CaptionSplits
from saccade.tasks.captioning.model import Captioner
from saccade.tasks.captioning.pretrained import weights_fingerprint
from saccade.tasks.captioning.recipe import CaptionDataSettings
from saccade.tasks.captioning.settings import PretrainedEncoderSettings
from saccade.training import Reporter
from saccade.vision import Pixels, scaled

_BATCH = 16  # images that go through the encoder together


class ImageRows:
    """A row for each image: the features of a pretrained encoder, or the pixels for one that learns."""

    def __init__(
        self, captioner: Captioner, settings: CaptionDataSettings, splits: CaptionSplits, reporter: Reporter
    ) -> None:
        """Encode whatever was not encoded before; images that cannot be read are told of and have no row."""
        self._captioner = captioner
        self._scenes = splits.scenes
        self._stop = settings.bad_images == "stop"
        cache = self._cache(Path(settings.cache) if settings.cache is not None else cache_folder() / "images")
        names = list(dict.fromkeys(one.image for part in splits[:2] for one in part))
        keys = {name: key for name in names if (key := self._key(name)) is not None}
        known = set(cache.keys())
        fresh = [name for name, key in keys.items() if key not in known]
        self._bad: list[str] = []
        for name in names:
            if name not in keys:
                self._refuse(f"{name}: no such file")
        if fresh:
            cache.add(self._encoded_anew(fresh, keys, reporter))
        rows = {key: index for index, key in enumerate(cache.keys())}
        self._indices = {name: rows[key] for name, key in keys.items() if key in rows}
        self._rows = cache.rows()
        if self._bad:
            reporter.say(f"{len(self._bad):,} of {len(names):,} images cannot be read and are left out; {self._bad[0]}")

    def __contains__(self, name: str) -> bool:
        return name in self._indices

    def index(self, name: str) -> int:
        """The row of an image."""
        return self._indices[name]

    def encoded(self, names: Sequence[str]) -> Tensor:
        """What the net wants of these images."""
        return self.encoded_at([self._indices[name] for name in names])

    def encoded_at(self, indices: Sequence[int]) -> Tensor:
        """The same, by their rows."""
        rows = self._rows[np.asarray(indices)]
        return torch.from_numpy(rows).to(torch.float32) if self._features else scaled(list(rows))

    @property
    def _features(self) -> bool:
        return self._captioner.settings.image_encoder.is_frozen

    def _cache(self, folder: Path) -> FeatureCache:
        """The cache of this encoder: its name is made of all that its features depend on."""
        encoder = self._captioner.settings.image_encoder
        if isinstance(encoder, PretrainedEncoderSettings) and encoder.is_frozen:
            what = ["features", weights_fingerprint(), encoder.level, encoder.image_size]
            shape, kind = (encoder.grid.side**2, encoder.grid.channels), np.float16
        else:
            size = encoder.image_size
            what, shape, kind = ["pixels", size], (size, size, 3), np.uint8
        name = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
        return FeatureCache(folder / name, shape=shape, kind=kind)

    def _key(self, name: str) -> str | None:
        """What a row is known by: a file that has changed is another image."""
        if name in self._scenes:
            return name
        try:
            about = Path(name).stat()
        except OSError:
            return None
        return f"{Path(name).resolve()} {about.st_size} {about.st_mtime_ns}"

    def _encoded_anew(
        self, names: Sequence[str], keys: dict[str, str], reporter: Reporter
    ) -> Iterator[tuple[list[str], NDArray[Any]]]:
        for first in range(0, len(names), _BATCH):
            part = names[first : first + _BATCH]
            pixels = {name: found for name in part if (found := self._read(name)) is not None}
            if pixels:
                images = list(pixels.values())
                rows = self._captioner.encode(images).numpy() if self._features else np.stack(images)
                yield [keys[name] for name in pixels], rows
            reporter.count(min(first + _BATCH, len(names)), len(names), "encoding images")

    def _read(self, name: str) -> Pixels | None:
        if name in self._scenes:
            return self._scenes[name].pixels
        try:
            return self._captioner.preprocess(Path(name), name)
        except InputError as error:
            self._refuse(str(error))
            return None

    def _refuse(self, message: str) -> None:
        if self._stop:
            raise InputError(f"{message} (leave such images out with data.bad_images=skip)")
        self._bad.append(message)
