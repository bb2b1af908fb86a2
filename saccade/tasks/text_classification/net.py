"""Texts to labels as one net: a reader of running text and a pooling, or convolutions.

Letters: `B` batch, `T` tokens, `D` dim, `L` layers, `H` heads, `K` labels.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import padding_mask
from saccade.nets import Dropout, TransformerEncoder, layer_shape, make_embedding, make_reader
from saccade.nets.from_settings import RNN_STD
from saccade.tasks.text_classification.pooling import MaxPooling, Pooled, make_pooling
from saccade.tasks.text_classification.settings import (
    ClassifierSettings,
    TextCnnSettings,
    TextNetSettings,
    TextRnnSettings,
    TextTransformerSettings,
)
from saccade.text import START, UNKNOWN


class NetOutput(NamedTuple):
    """What the net says of a batch."""

    logits: Tensor  # [B, K]
    weights: Tensor | None  # [B, T], which tokens decided, where the pooling tells
    self_weights: Tensor | None  # [B, L, H, T, T], what the tokens saw of each other, if it was asked for and is there


class TextNet(nn.Module, ABC):
    """Tokens `[B, T]`, a start first, to the logits of their labels: read, pool, one linear map."""

    def __init__(self, settings: ClassifierSettings, dim: int, labels: int) -> None:
        super().__init__()
        self.word_dropout = settings.word_dropout
        self.dropout = Dropout(settings.classifier_dropout)
        self.labels = nn.Linear(dim, labels)

    @abstractmethod
    def read(self, tokens: Tensor, lengths: Tensor, *, need_weights: bool) -> tuple[Pooled, Tensor | None]:
        """One vector for each text, and what its tokens saw of each other."""

    def forward(self, tokens: Tensor, lengths: Tensor, *, need_weights: bool = False) -> NetOutput:
        if self.training and self.word_dropout:
            lost = (torch.rand(tokens.shape) < self.word_dropout) & (tokens != START)
            tokens = tokens.masked_fill(lost, UNKNOWN)
        pooled, self_weights = self.read(tokens, lengths, need_weights=need_weights)
        return NetOutput(self.labels(self.dropout(pooled.vector)), pooled.weights, self_weights)


class ReaderNet(TextNet):
    """The net of a language model, under the names that its weights have there, but for its output; and a pooling."""

    def __init__(self, settings: TextRnnSettings | TextTransformerSettings, *, size: int, labels: int) -> None:
        super().__init__(settings, settings.dim, labels)
        self.decoder = _make_reader(settings, size)
        self.pooling = make_pooling(settings.pooling, settings.dim, score=settings.pooling_score)

    def read(self, tokens: Tensor, lengths: Tensor, *, need_weights: bool) -> tuple[Pooled, Tensor | None]:
        if isinstance(self.decoder, TransformerEncoder):
            encoded = self.decoder(tokens, lengths, need_weights=need_weights)
            states, weights = encoded.states, encoded.weights
        else:  # what stands before a token knows nothing of padding behind it
            output = self.decoder(None, tokens, need_weights=need_weights)
            states, weights = output.features, output.self_weights
        mask = padding_mask(lengths, size=tokens.shape[1])[:, 0]
        # the start says nothing of the text
        pooled = self.pooling(states[:, 1:], mask[:, 1:], need_weights=need_weights)
        return pooled, weights


def _make_reader(settings: TextRnnSettings | TextTransformerSettings, size: int) -> nn.Module:
    if isinstance(settings, TextTransformerSettings) and not settings.causal:
        # its parts have the names that they have in a decoder
        embedding = make_embedding(size, settings.dim, settings.dim**-0.5)
        shape, max_length = layer_shape(settings), settings.max_length
        return TransformerEncoder(embedding, shape, layers=settings.layers, max_length=max_length)
    decoder = make_reader(settings, size=size)
    del decoder.output  # nothing is written
    return decoder


class CnnNet(TextNet):
    """v_w,f = relu(max_t (W_f [x_t ... x_t+w-1] + b_f)) for filters f of each width w (Kim 2014).

    Beyond its ends, a text has zeros. The token in the middle of a filter is the one that its number comes from.
    """

    def __init__(self, settings: TextCnnSettings, *, size: int, labels: int) -> None:
        super().__init__(settings, settings.filters * len(settings.widths), labels)
        self.embedding = make_embedding(size, settings.embedding, RNN_STD)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(settings.embedding, settings.filters, width) for width in settings.widths
        )
        self.pooling = MaxPooling()

    def read(self, tokens: Tensor, lengths: Tensor, *, need_weights: bool) -> tuple[Pooled, Tensor | None]:
        tokens, mask = tokens[:, 1:], padding_mask(lengths - 1, size=tokens.shape[1] - 1)[:, 0]  # without the start
        embedded = (self.embedding(tokens) * mask[..., None]).transpose(1, 2)  # [B, E, T]
        states = [_same_size(convolution, embedded).transpose(1, 2) for convolution in self._convolutions()]
        pooled = self.pooling(torch.cat(states, dim=-1), mask, need_weights=need_weights)
        return pooled._replace(vector=F.relu(pooled.vector)), None

    def _convolutions(self) -> list[nn.Conv1d]:
        return [one for one in self.convolutions if isinstance(one, nn.Conv1d)]


def _same_size(convolution: nn.Conv1d, x: Tensor) -> Tensor:
    """`[B, E, T]` -> `[B, F, T]`, with zeros before the first and after the last."""
    (width,) = convolution.kernel_size
    return convolution(F.pad(x, ((width - 1) // 2, width // 2)))


def make_net(settings: TextNetSettings, *, size: int, labels: int) -> TextNet:
    """The net that the settings describe, for a vocabulary of that size and so many labels."""
    if isinstance(settings, TextCnnSettings):
        return CnnNet(settings, size=size, labels=labels)
    return ReaderNet(settings, size=size, labels=labels)
