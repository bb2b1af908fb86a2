"""A trained reader of lines: strips in, text out, with where each letter was; by CTC or by attention.

Letters: `B` batch, `H` height, `W` width, `T` columns, `V` vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from pydantic import Field, model_validator
from torch import Tensor, nn

from saccade.data import (
    PAD,
    START,
    Vocabulary,
    VocabularySettings,
    load_vocabulary,
    pad,
    read_strip,
    vocabulary_path,
)
from saccade.errors import InputError
from saccade.files import make_folder
from saccade.models.captioner import ImageSource
from saccade.models.decoders import make_rnn_decoder
from saccade.models.evaluating import evaluating
from saccade.models.folder import load_model, read_settings, write_model
from saccade.models.losses import target_loss
from saccade.models.search import Search, find
from saccade.models.settings import RecurrentSettings, Share, Size
from saccade.nets import LineEncoder, best_path, occupancy
from saccade.nets.line_encoder import NARROWING
from saccade.settings import Settings

CHARACTERS = VocabularySettings(kind="characters")


class LineSettings(Settings):
    """How a strip is read."""

    kind: Literal["ctc", "attention"]
    height: Annotated[int, Field(ge=8, le=256)] = 28  # strips are made so high
    width: Annotated[int, Field(ge=8, le=4096)] = 168  # and so wide
    dim: Size = 128
    dropout: Share = 0.1

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for name, size in (("height", self.height), ("width", self.width)):
            if size % NARROWING:
                raise ValueError(f"{name}: found {size}, wanted a multiple of {NARROWING}")
        if self.dim % 2:
            raise ValueError(f"dim: found {self.dim}, wanted an even number, half for each direction")
        return self


class LineReaderSettings(Settings):
    """A model's config.yaml."""

    task: Literal["lines"] = "lines"
    model: LineSettings


class LineNet(nn.Module):
    """Strips `[B, 1, H, W]` to letters: `columns` by CTC, `decoder` by attention; a model has one of the two."""

    def __init__(self, settings: LineSettings, size: int) -> None:
        super().__init__()
        self.encoder = LineEncoder(settings.dim, height=settings.height, dropout=settings.dropout)
        self.columns = nn.Linear(settings.dim, size) if settings.kind == "ctc" else None
        recurrent = RecurrentSettings(
            kind="rnn", dim=settings.dim, embedding=settings.dim // 2, dropout=settings.dropout
        )
        self.decoder = make_rnn_decoder(recurrent, size) if settings.kind == "attention" else None

    def log_probs(self, strips: Tensor) -> Tensor:
        """What each column writes, by CTC: `[B, T, V]`; PAD is the blank."""
        assert self.columns is not None
        return self.columns(self.encoder(strips).states).log_softmax(-1)

    def loss(self, strips: Tensor, targets: Sequence[Sequence[int]]) -> Tensor:
        """Of texts as numbers with END last, summed over the batch."""
        if self.decoder is not None:
            forced = self.decoder(self.encoder(strips), pad([[START, *ids[:-1]] for ids in targets]))
            return target_loss(self.decoder, forced, pad(targets), smoothing=0.0)
        log_probs = self.log_probs(strips).transpose(0, 1)  # [T, B, V]
        letters = [ids[:-1] for ids in targets]
        return F.ctc_loss(
            log_probs,
            torch.tensor([letter for ids in letters for letter in ids]),
            torch.full((len(letters),), len(log_probs)),
            torch.tensor([len(ids) for ids in letters]),
            blank=PAD,
            reduction="sum",
            zero_infinity=True,
        )


@dataclass(frozen=True)
class ReadLine:
    """What stands on a strip, and where."""

    text: str
    letters: list[str]
    attention: NDArray[np.float32]  # [letters, columns]: by CTC how likely each column writes each letter


class LineReader:
    """A net with its letters. `saccade.load(folder)` gives one."""

    def __init__(self, net: LineNet, vocabulary: Vocabulary, settings: LineReaderSettings) -> None:
        self.net = net
        self.vocabulary = vocabulary
        self.settings = settings

    @classmethod
    def make(cls, settings: LineReaderSettings, vocabulary: Vocabulary) -> "LineReader":
        """A reader that has learnt nothing yet; its weights come from torch's random numbers."""
        return cls(LineNet(settings.model, len(vocabulary)), vocabulary, settings)

    @classmethod
    def load(cls, folder: Path) -> "LineReader":
        """The reader of a model's folder."""
        settings = read_settings(LineReaderSettings, folder)
        vocabulary = load_vocabulary(CHARACTERS, folder)
        return load_model(lambda: cls.make(settings, vocabulary), folder)

    def save(self, folder: Path) -> None:
        """Write the model's folder; the weights last, so that a folder that has them is whole."""
        make_folder(folder)
        path = vocabulary_path(CHARACTERS, folder)
        self.vocabulary.save(path)
        write_model(folder, self.settings, self.net, files=[path])

    def read(self, images: Sequence[ImageSource]) -> list[ReadLine]:
        """The text of each strip: files, or their bytes."""
        if isinstance(images, str | bytes | Path):
            raise InputError("images: found one image, wanted a list of them; write [image]")
        model = self.settings.model
        strips = [
            read_strip(
                image if isinstance(image, bytes) else Path(image),
                height=model.height,
                width=model.width,
                name=f"image {number}" if isinstance(image, bytes) else str(image),
            )
            for number, image in enumerate(images, start=1)
        ]
        return self.read_strips(np.stack(strips)) if strips else []

    def read_strips(self, strips: NDArray[np.uint8]) -> list[ReadLine]:
        """The same for strips as they were learnt from, `[B, height, width]`, white on black."""
        with evaluating(self.net):
            scaled = as_input(strips)
            return self._by_attention(scaled) if self.net.decoder is not None else self._by_ctc(scaled)

    def _by_ctc(self, strips: Tensor) -> list[ReadLine]:
        results: list[ReadLine] = []
        for log_probs in self.net.log_probs(strips):
            ids, _ = best_path(log_probs, blank=PAD)
            text, tokens = self.vocabulary.decode(ids)
            results.append(ReadLine(text, tokens.words[:-1], occupancy(log_probs, tokens.ids[:-1], blank=PAD).numpy()))
        return results

    def _by_attention(self, strips: Tensor) -> list[ReadLine]:
        decoder, encoded = self.net.decoder, self.net.encoder(strips)
        assert decoder is not None
        count = len(strips)
        limits = [strips.shape[-1] // NARROWING + 1] * count
        found = find(decoder, encoded, Search(beam=1), limits=limits, prefixes=[[]] * count, names=[""] * count)
        written = [self.vocabulary.decode(group[0].ids) for group in found]
        previous = pad([[START, *tokens.ids[:-1]] for _, tokens in written])
        weights = decoder(encoded, previous, need_weights=True).weights
        assert weights is not None
        return [
            ReadLine(text, tokens.words[:-1], weights[row, 0, 0, : len(tokens.ids) - 1].numpy())
            for row, (text, tokens) in enumerate(written)
        ]


def as_input(strips: NDArray[np.uint8]) -> Tensor:
    """`[B, H, W]` bytes -> `[B, 1, H, W]`, from 0 to 1."""
    return torch.from_numpy(np.ascontiguousarray(strips))[:, None].to(torch.float32) / 255
