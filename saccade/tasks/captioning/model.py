"""A trained captioner: images in, text out, with where it looked for each word."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.base.model_folder import tensors_of
from saccade.base.tensors import write_tensors
from saccade.decode import Hypothesis, Search, SearchOptions, find, read_search
from saccade.look import AttentionMap
from saccade.nets import Eye, evaluating
from saccade.runtime.heap import keep_heap
from saccade.tasks.batches import in_batches
from saccade.tasks.captioning.maps import map_of_caption
from saccade.tasks.captioning.net import CaptionNet, make_caption_net
from saccade.tasks.captioning.pretrained import features_of, load_eye
from saccade.tasks.captioning.result import Caption
from saccade.tasks.captioning.settings import CaptionerSettings, PretrainedEye
from saccade.tasks.model import Model
from saccade.text import START, Tokens, Vocabulary, load_vocabulary, merge_to_words, pad
from saccade.text import vocabulary_path as path_of_vocabulary
from saccade.vision import ImageSource, Pixels, named_images, picture_for_pages, read_image, scaled

EYE = "eye.safetensors"


class Captioner(Model[CaptionerSettings, CaptionNet]):
    """A net with its vocabulary and its eye. `saccade.load(folder)` gives one."""

    config = CaptionerSettings

    def __init__(
        self, net: CaptionNet, vocabulary: Vocabulary, settings: CaptionerSettings, eye: Eye | None = None
    ) -> None:
        """`eye` is the pretrained one, if the settings want one; until it is wanted, it need not be there."""
        self.net = net
        self.vocabulary = vocabulary
        self.settings = settings
        self._eye = eye

    @classmethod
    def make(cls, settings: CaptionerSettings, vocabulary: Vocabulary) -> Self:
        """A captioner that has learnt nothing yet; its weights come from torch's random numbers."""
        return cls(make_caption_net(settings, size=len(vocabulary)), vocabulary, settings)

    @classmethod
    def maker(cls, settings: CaptionerSettings, folder: Path) -> Callable[[], Self]:
        keep_heap()
        vocabulary = load_vocabulary(settings.vocabulary, folder)
        eye = load_eye(folder / EYE) if isinstance(settings.eye, PretrainedEye) else None
        return lambda: cls(make_caption_net(settings, size=len(vocabulary)), vocabulary, settings, eye)

    def save_files(self, folder: Path) -> list[Path]:
        files = [path_of_vocabulary(self.settings.vocabulary, folder)]
        self.vocabulary.save(files[0])
        if isinstance(self.settings.eye, PretrainedEye):
            files.append(folder / EYE)
            write_tensors(folder / EYE, tensors_of(self.eye))
        return files

    def maps(self, result: Caption, *, image: ImageSource | None = None, name: str = "") -> list[AttentionMap]:
        """The map of a caption that was made with `attention=True`; with the image, pictures are drawn over it."""
        picture = None if image is None else picture_for_pages(image)
        return [map_of_caption(result, image=picture, name=name)]

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
        **search: Unpack[SearchOptions],
    ) -> list[Caption]:
        """Say what is on each image: files, or their bytes; each as if it were alone.

        attention  say where was looked for each word
        batch      how many images go through the model at a time; no output depends on it
        progress   called with the number of images done since the last call
        search     the fields of `Search`, such as beam=3, nbest=3, sampling=True
        """
        how = read_search(search)

        def captions(part: Sequence[tuple[str, ImageSource]]) -> list[Caption]:
            pixels = [self.read(image, name) for name, image in part]
            return self.caption_seen(self.see(pixels), [name for name, _ in part], how, attention=attention)

        return in_batches(captions, named_images(images), batch=batch, progress=progress)

    def read(self, image: ImageSource, name: str) -> Pixels:
        """An image at the size that the eye wants; one that cannot be read is an `InputError` with its name."""
        return read_image(image, side=self.settings.eye.image_side, name=name)

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
            limits, prefixes = [self.net.max_length] * count, [[] for _ in range(count)]
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
