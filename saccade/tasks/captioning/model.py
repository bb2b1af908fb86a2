"""A trained captioner: images in, text out, with where it looked for each word."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from saccade.base.model_folder import tensors_of
from saccade.base.tensors import write_tensors
from saccade.decode import Hypothesis, Search, SearchOptions, generate, read_search
from saccade.look import AttentionMap
from saccade.nets import EfficientNetLite0
from saccade.runtime.allocator import keep_heap
from saccade.tasks.batches import in_batches
from saccade.tasks.captioning.maps import map_of_caption
from saccade.tasks.captioning.net import CaptionNet, FineTunedEncoder, make_caption_net
from saccade.tasks.captioning.own_encoder import NAME as OWN
from saccade.tasks.captioning.own_encoder import own_encoder
from saccade.tasks.captioning.pretrained import features_of, load_image_encoder
from saccade.tasks.captioning.result import Caption
from saccade.tasks.captioning.settings import CaptionerSettings, PretrainedEncoderSettings
from saccade.tasks.model import Model, Modules
from saccade.tasks.output import expect_output
from saccade.text import START, Tokens, Vocabulary, load_vocabulary, merge_to_words, pad
from saccade.text import vocabulary_path as path_of_vocabulary
from saccade.vision import ImageSource, Pixels, named_images, picture_for_pages, read_image, scaled

IMAGE_ENCODER = "image_encoder.safetensors"


class Captioner(Model[CaptionerSettings, CaptionNet]):
    """A net with its vocabulary and its image encoder. `saccade.load(folder)` gives one."""

    config = CaptionerSettings

    def __init__(
        self,
        net: CaptionNet,
        vocabulary: Vocabulary,
        settings: CaptionerSettings,
        image_encoder: EfficientNetLite0 | None = None,
    ) -> None:
        """`image_encoder` is the pretrained one, if the settings want one; until it is wanted, it need not be there."""
        self.net = net
        self.vocabulary = vocabulary
        self.settings = settings
        self._image_encoder = image_encoder

    @classmethod
    def make(cls, settings: CaptionerSettings, vocabulary: Vocabulary, *, own: nn.Module | None = None) -> Self:
        """A captioner that has learnt nothing yet; its weights come from torch's random numbers.

        own  the image encoder, where it is the user's own
        """
        net = make_caption_net(settings, size=len(vocabulary), own=own)
        if isinstance(net.image_encoder, FineTunedEncoder):
            net.image_encoder.cnn.load_state_dict(load_image_encoder().state_dict())
        return cls(net, vocabulary, settings)

    @classmethod
    def maker(cls, settings: CaptionerSettings, folder: Path) -> Callable[[], Self]:
        return cls.maker_with(settings, folder, {})

    @classmethod
    def maker_with(cls, settings: CaptionerSettings, folder: Path, modules: Modules) -> Callable[[], Self]:
        keep_heap()
        remedy = f'saccade.load("{folder}", saccade.Captioner, modules={{"{OWN}": ...}})'
        own = own_encoder(settings, modules, where=str(folder), remedy=remedy)
        vocabulary = load_vocabulary(settings.vocabulary, folder)
        encoder = load_image_encoder(folder / IMAGE_ENCODER) if settings.image_encoder.is_frozen else None
        return lambda: cls(make_caption_net(settings, size=len(vocabulary), own=own), vocabulary, settings, encoder)

    def save_files(self, folder: Path) -> list[Path]:
        files = [path_of_vocabulary(self.settings.vocabulary, folder)]
        self.vocabulary.save(files[0])
        if self.settings.image_encoder.is_frozen:
            files.append(folder / IMAGE_ENCODER)
            write_tensors(folder / IMAGE_ENCODER, tensors_of(self.image_encoder))
        return files

    def maps(self, result: Caption, *, image: ImageSource | None = None, name: str = "") -> list[AttentionMap]:
        """The map of a caption that was made with `attention=True`; with the image, pictures are drawn over it."""
        expect_output(result, Caption)
        picture = None if image is None else picture_for_pages(image)
        return [map_of_caption(result, image=picture, name=name)]

    @property
    def image_encoder(self) -> EfficientNetLite0:
        """The pretrained image encoder."""
        if self._image_encoder is None:
            self._image_encoder = load_image_encoder()
        return self._image_encoder

    def caption(
        self,
        images: Sequence[ImageSource],
        *,
        attention: bool = False,
        batch_size: int = 16,
        progress: Callable[[int], None] | None = None,
        **search: Unpack[SearchOptions],
    ) -> list[Caption]:
        """Say what is on each image: files, or their bytes; each as if it were alone.

        attention  say where was looked for each word
        batch_size how many images go through the model at a time; no output depends on it
        progress   called with the number of images done since the last call
        search     the fields of `Search`, such as beam=3, nbest=3, sampling=True
        """
        how = read_search(search)

        def captions(part: Sequence[tuple[str, ImageSource]]) -> list[Caption]:
            pixels = [self.preprocess(image, name) for name, image in part]
            return self.caption_encoded(self.encode(pixels), [name for name, _ in part], how, attention=attention)

        return in_batches(captions, named_images(images), batch_size=batch_size, progress=progress)

    def preprocess(self, image: ImageSource, name: str) -> Pixels:
        """An image at the size that the encoder wants; one that cannot be read is an `InputError` with its name."""
        return read_image(image, side=self.settings.image_encoder.image_size, name=name)

    def encode(self, pixels: Sequence[Pixels]) -> Tensor:
        """What the net wants of images: the features of the pretrained encoder, or the images themselves."""
        how = self.settings.image_encoder
        if isinstance(how, PretrainedEncoderSettings) and how.is_frozen:
            return features_of(self.image_encoder, pixels, how.level)
        return scaled(pixels)

    def caption_encoded(
        self, encoded: Tensor, names: Sequence[str], how: Search, *, attention: bool = False
    ) -> list[Caption]:
        """Captions of what `encode` gave; `names` are what the draws of sampling belong to."""
        with self.running(how.precision):
            count = len(encoded)
            limits, prefixes = [self.net.max_length] * count, [[] for _ in range(count)]
            found = generate(
                self.net.decoder, self.net.encode(encoded), how, limits=limits, prefixes=prefixes, names=names
            )
            return self._describe(encoded, found, attention=attention)

    def _describe(self, encoded: Tensor, found: list[list[Hypothesis]], *, attention: bool) -> list[Caption]:
        """Hypotheses as text, the best of each image first with the others as its alternatives."""
        rows = [row for row, group in enumerate(found) for _ in group]
        written = [self.vocabulary.decode(one.ids) for group in found for one in group]
        weights = (
            self._weights(encoded[rows], [tokens for _, tokens in written]) if attention else [None] * len(written)
        )
        captions: list[Caption] = []
        side, index = self.settings.image_encoder.grid.side, 0
        for group in found:
            described: list[Caption] = []
            for one in group:
                text, tokens = written[index]
                described.append(Caption(text, one.score, tokens.words, side, weights[index]))
                index += 1
            captions.append(replace(described[0], alternatives=described[1:]))
        return captions

    def _weights(self, encoded: Tensor, targets: Sequence[Tokens]) -> list[NDArray[np.float32] | None]:
        """For each caption, what was looked at for its words: `[L, H, words, P]`, where there is attention."""
        previous = pad([[START, *tokens.ids[:-1]] for tokens in targets])
        weights = self.net.decoder(self.net.encode(encoded), previous, need_weights=True).weights
        if weights is None:
            return [None] * len(targets)
        regions = list(range(weights.shape[-1]))
        return [
            merge_to_words(one[:, :, : len(tokens.ids)].numpy(), tokens.word_of, regions, words=len(regions))
            for one, tokens in zip(weights.to(torch.float32), targets, strict=True)
        ]
