"""A trained captioner: images in, text out, with where it looked for each word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.data import START, Pixels, Tokens, Vocabulary, load_vocabulary, merge_to_words, pad, read_image
from saccade.data import vocabulary_path as path_of_vocabulary
from saccade.decode import Hypothesis
from saccade.errors import InputError
from saccade.files import make_folder
from saccade.models.caption_net import CaptionNet, make_caption_net
from saccade.models.caption_settings import CaptionerSettings, PretrainedEye
from saccade.models.evaluating import evaluating
from saccade.models.folder import load_model, read_settings, tensors_of, write_model
from saccade.models.pretrained import load_eye
from saccade.models.search import Search, expect, find, read_search
from saccade.models.seeing import features_of, scaled
from saccade.nets import Eye
from saccade.runtime.heap import keep_heap
from saccade.tensors import write_tensors

EYE = "eye.safetensors"
ImageSource = Path | str | bytes


@dataclass(frozen=True)
class Caption:
    """What a model says of an image, and where it looked for each word."""

    text: str
    score: float  # log probability, with penalties where they were asked for
    words: list[str]  # `</s>` last
    side: int  # the grid that was looked at has side x side places, row by row
    attention: NDArray[np.float32] | None = None  # [layers, heads, words, places]
    alternatives: list["Caption"] = field(default_factory=list)  # the next best, if they were asked for

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers; the attention is the mean over layers and heads."""
        attention = None if self.attention is None else self.attention.mean((0, 1), dtype=np.float64).round(4).tolist()
        record = {"text": self.text, "score": round(self.score, 4), "words": self.words, "side": self.side}
        return record | {"attention": attention, "alternatives": [other.as_json() for other in self.alternatives]}


class Captioner:
    """A net with its vocabulary and its eye. `saccade.load(folder)` gives one."""

    def __init__(
        self, net: CaptionNet, vocabulary: Vocabulary, settings: CaptionerSettings, eye: Eye | None = None
    ) -> None:
        """`eye` is the pretrained one, if the settings want one; until it is wanted, it need not be there."""
        self.net = net
        self.vocabulary = vocabulary
        self.settings = settings
        self._eye = eye

    @classmethod
    def make(cls, settings: CaptionerSettings, vocabulary: Vocabulary) -> "Captioner":
        """A captioner that has learnt nothing yet; its weights come from torch's random numbers."""
        return cls(make_caption_net(settings, size=len(vocabulary)), vocabulary, settings)

    @classmethod
    def load(cls, folder: Path) -> "Captioner":
        """The captioner of a model's folder. From now on the process keeps the memory that it frees (`keep_heap`)."""
        keep_heap()
        settings = read_settings(CaptionerSettings, folder)
        vocabulary = load_vocabulary(settings.vocabulary, folder)
        net = load_model(lambda: cls.make(settings, vocabulary), folder).net
        eye = load_eye(folder / EYE) if isinstance(settings.eye, PretrainedEye) else None
        return cls(net, vocabulary, settings, eye)

    def save(self, folder: Path) -> None:
        """Write the model's folder, its eye with it; the weights last, so that a folder that has them is whole."""
        make_folder(folder)
        files = [path_of_vocabulary(self.settings.vocabulary, folder)]
        self.vocabulary.save(files[0])
        if isinstance(self.settings.eye, PretrainedEye):
            files.append(folder / EYE)
            write_tensors(folder / EYE, tensors_of(self.eye))
        write_model(folder, self.settings, self.net, files=files)

    @property
    def eye(self) -> Eye:
        """The pretrained eye."""
        if self._eye is None:
            self._eye = load_eye()
        return self._eye

    def caption(
        self,
        images: Sequence[ImageSource],
        *,
        attention: bool = False,
        batch: int = 16,
        progress: Callable[[int], None] | None = None,
        **search: Any,
    ) -> list[Caption]:
        """Say what is on each image: files, or their bytes; each as if it were alone.

        attention  say where was looked for each word
        batch      how many images go through the model at a time; no output depends on it
        progress   called with the number of images done since the last call
        search     the fields of `Search`, such as beam=3, nbest=3, sampling=True
        """
        if isinstance(images, str | bytes | Path):
            raise InputError("images: found one image, wanted a list of them; write [image]")
        expect("batch", batch, batch >= 1, "at least 1")
        how = read_search(search)
        captions: list[Caption] = []
        for first in range(0, len(images), batch):
            part = images[first : first + batch]
            names = [
                f"image {first + number}" if isinstance(one, bytes) else str(one) for number, one in enumerate(part, 1)
            ]
            pixels = [self.read(one, name) for one, name in zip(part, names, strict=True)]
            captions.extend(self.caption_seen(self.see(pixels), names, how, attention=attention))
            if progress is not None:
                progress(len(part))
        return captions

    def read(self, image: ImageSource, name: str) -> Pixels:
        """An image at the size that the eye wants; one that cannot be read is an `InputError` with its name."""
        source = image if isinstance(image, bytes) else Path(image)
        return read_image(source, side=self.settings.eye.image_side, name=name)

    def see(self, pixels: Sequence[Pixels]) -> Tensor:
        """What the net wants of images: the features of the pretrained eye, or the images themselves."""
        if isinstance(self.settings.eye, PretrainedEye):
            return features_of(self.eye, pixels, self.settings.eye.level)
        return scaled(pixels)

    def caption_seen(
        self, seen: Tensor, names: Sequence[str], how: Search, *, attention: bool = False
    ) -> list[Caption]:
        """Captions of what `see` gave; `names` are what the draws of sampling belong to."""
        with evaluating(self.net):
            count = len(seen)
            limits, prefixes = [self.net.longest] * count, [[] for _ in range(count)]
            found = find(self.net.decoder, self.net.encode(seen), how, limits=limits, prefixes=prefixes, names=names)
            return self._describe(seen, found, attention=attention)

    def _describe(self, seen: Tensor, found: list[list[Hypothesis]], *, attention: bool) -> list[Caption]:
        """Hypotheses as text, the best of each image first with the others as its alternatives."""
        rows = [row for row, group in enumerate(found) for _ in group]
        written = [self.vocabulary.decode(one.ids) for group in found for one in group]
        weights = self._weights(seen[rows], [tokens for _, tokens in written]) if attention else [None] * len(written)
        captions: list[Caption] = []
        place = 0
        for group in found:
            described: list[Caption] = []
            for one in group:
                text, tokens = written[place]
                described.append(Caption(text, one.score, tokens.words, self.settings.eye.grid.side, weights[place]))
                place += 1
            captions.append(replace(described[0], alternatives=described[1:]))
        return captions

    def _weights(self, seen: Tensor, targets: Sequence[Tokens]) -> list[NDArray[np.float32] | None]:
        """For each caption, what was looked at for its words: `[L, H, words, P]`, where there is attention."""
        previous = pad([[START, *tokens.ids[:-1]] for tokens in targets])
        weights = self.net.decoder(self.net.encode(seen), previous, need_weights=True).weights
        if weights is None:
            return [None] * len(targets)
        places = list(range(weights.shape[-1]))
        return [
            merge_to_words(one[:, :, : len(tokens.ids)].numpy(), tokens.word_of, places, words=len(places))
            for one, tokens in zip(weights.to(torch.float32), targets, strict=True)
        ]
