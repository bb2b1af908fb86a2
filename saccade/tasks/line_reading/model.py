"""A trained reader of lines: strips in, text out, with where each letter was; by CTC or by attention.

Letters: `B` batch, `H` height, `W` width, `T` columns, `V` vocabulary.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.decode import Search, generate
from saccade.look import AttentionMap
from saccade.nets import best_path, occupancy
from saccade.nets.line_encoder import NARROWING
from saccade.tasks.batches import in_batches
from saccade.tasks.line_reading.maps import map_of_line
from saccade.tasks.line_reading.net import LineNet
from saccade.tasks.line_reading.result import LineReaderOutput
from saccade.tasks.line_reading.settings import CHARACTERS, LineReaderSettings
from saccade.tasks.model import Model
from saccade.tasks.output import expect_output
from saccade.text import PAD, START, Vocabulary, load_vocabulary, pad, vocabulary_path
from saccade.vision import ImageSource, as_png, image_name, named_images, read_strip


class LineReader(Model[LineReaderSettings, LineNet]):
    """A net with its letters. `saccade.load(folder)` gives one."""

    config = LineReaderSettings

    def __init__(self, net: LineNet, vocabulary: Vocabulary, settings: LineReaderSettings) -> None:
        self.net = net
        self.vocabulary = vocabulary
        self.settings = settings

    @classmethod
    def make(cls, settings: LineReaderSettings, vocabulary: Vocabulary) -> Self:
        """A reader that has learnt nothing yet; its weights come from torch's random numbers."""
        return cls(LineNet(settings.model, len(vocabulary)), vocabulary, settings)

    @classmethod
    def maker(cls, settings: LineReaderSettings, folder: Path) -> Callable[[], Self]:
        vocabulary = load_vocabulary(CHARACTERS, folder)
        return lambda: cls.make(settings, vocabulary)

    def save_files(self, folder: Path) -> list[Path]:
        path = vocabulary_path(CHARACTERS, folder)
        self.vocabulary.save(path)
        return [path]

    def maps(self, result: LineReaderOutput, *, image: ImageSource | None = None, name: str = "") -> list[AttentionMap]:
        """Where each letter of a line was that was read with `attention=True`; with its image, drawn over it."""
        expect_output(result, LineReaderOutput)
        strip = None if image is None else as_png(self.preprocess(image))
        return [map_of_line(result, image=strip, name=name)]

    def read(
        self,
        images: Sequence[ImageSource],
        *,
        attention: bool = False,
        batch_size: int = 64,
        progress: Callable[[int], None] | None = None,
    ) -> list[LineReaderOutput]:
        """The text of each strip: files, or their bytes.

        attention  say where each letter was
        batch_size how many strips go through the model at a time; no output depends on it
        progress   called with the number of strips done since the last call
        """

        def lines(part: Sequence[tuple[str, ImageSource]]) -> list[LineReaderOutput]:
            strips = [self.preprocess(image, name) for name, image in part]
            return self.read_strips(np.stack(strips), attention=attention)

        return in_batches(lines, named_images(images), batch_size=batch_size, progress=progress)

    def preprocess(self, image: ImageSource, name: str = "the image") -> NDArray[np.uint8]:
        """An image as the net sees it, `[height, width]`, white on black."""
        model = self.settings.model
        return read_strip(image, height=model.height, width=model.width, name=image_name(image, name))

    def read_strips(self, strips: NDArray[np.uint8], *, attention: bool = False) -> list[LineReaderOutput]:
        """The same for strips as they were learnt from, `[B, height, width]`, white on black."""
        with self.running():
            scaled = as_input(strips)
            read = self._by_attention if self.net.decoder is not None else self._by_ctc
            return read(scaled, attention=attention)

    def _by_ctc(self, strips: Tensor, *, attention: bool) -> list[LineReaderOutput]:
        results: list[LineReaderOutput] = []
        for log_probs in self.net.log_probs(strips):
            ids, _ = best_path(log_probs, blank=PAD)
            text, tokens = self.vocabulary.decode(ids)
            where = occupancy(log_probs, tokens.ids[:-1], blank=PAD).numpy()[None, None] if attention else None
            results.append(LineReaderOutput(text, tokens.words[:-1], where))
        return results

    def _by_attention(self, strips: Tensor, *, attention: bool) -> list[LineReaderOutput]:
        decoder, encoded = self.net.decoder, self.net.encoder(strips)
        assert decoder is not None
        count = len(strips)
        limits = [strips.shape[-1] // NARROWING + 1] * count
        found = generate(decoder, encoded, Search(beam=1), limits=limits, prefixes=[[]] * count, names=[""] * count)
        written = [self.vocabulary.decode(group[0].ids) for group in found]
        if not attention:
            return [LineReaderOutput(text, tokens.words[:-1]) for text, tokens in written]
        previous = pad([[START, *tokens.ids[:-1]] for _, tokens in written])
        weights = decoder(encoded, previous, need_weights=True).weights
        assert weights is not None
        return [
            LineReaderOutput(text, tokens.words[:-1], weights[row, :, :, : len(tokens.ids) - 1].numpy())
            for row, (text, tokens) in enumerate(written)
        ]


def as_input(strips: NDArray[np.uint8]) -> Tensor:
    """`[B, H, W]` bytes -> `[B, 1, H, W]`, from 0 to 1."""
    return torch.from_numpy(np.ascontiguousarray(strips))[:, None].to(torch.float32) / 255
