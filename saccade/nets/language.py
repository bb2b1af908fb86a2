"""Nets that read running text, of which each token knows those before it: decoders without a source."""

from typing import Any

import torch
from torch import Tensor, nn

from saccade.attention import Learned
from saccade.nets.context import Context, NoContext, PastContext
from saccade.nets.decoder import Decoder
from saccade.nets.from_settings import RNN_STD, layer_shape, make_embedding
from saccade.nets.rnn import RnnDecoder
from saccade.nets.settings import (
    LanguageRnnSettings,
    LanguageTransformerSettings,
    RnnReaderSettings,
    TransformerReaderSettings,
)
from saccade.nets.transformer import TransformerDecoder
from saccade.text import START

LanguageNet = Decoder[Any]


def make_language_net(settings: LanguageRnnSettings | LanguageTransformerSettings, *, size: int) -> LanguageNet:
    """The net that the settings describe, for a vocabulary of that size."""
    net = make_reader(settings, size=size)
    if settings.tie_embeddings == "output":
        net.output.weight = (net.embedding if isinstance(net, RnnDecoder) else net.tokens.embedding).weight
    if isinstance(net, TransformerDecoder) and isinstance(net.tokens.positions, Learned):
        # as GPT-2 (Radford 2019), beside embeddings that are multiplied by √D; smaller ones are hardly seen at first
        nn.init.normal_(net.tokens.positions.table, std=0.02 * net.tokens.scale)
    return net


def make_reader(
    settings: RnnReaderSettings | TransformerReaderSettings, *, size: int
) -> RnnDecoder | TransformerDecoder:
    """The same, with an output of its own."""
    return _rnn(settings, size) if isinstance(settings, RnnReaderSettings) else _transformer(settings, size)


def _rnn(settings: RnnReaderSettings, size: int) -> RnnDecoder:
    return RnnDecoder(
        make_embedding(size, settings.embedding, RNN_STD),
        settings.dim,
        context=_past_context(settings),
        cell=settings.cell,
        order="luong",
        layers=settings.layers,
        input_feeding=settings.input_feeding,
        dropout=settings.dropout,
        has_source=False,
    )


def _past_context(settings: RnnReaderSettings) -> Context:
    if settings.score == "none":
        return NoContext()
    return PastContext(
        settings.dim,
        score=settings.score,
        weighting=settings.weighting,
        window=settings.window,
        activation=settings.score_activation,
    )


def _transformer(settings: TransformerReaderSettings, size: int) -> TransformerDecoder:
    embedding = make_embedding(size, settings.dim, settings.dim**-0.5)  # TokenEmbedding multiplies by √dim
    shape, max_length = layer_shape(settings), settings.max_length
    return TransformerDecoder(embedding, shape, layers=settings.layers, max_length=max_length, has_source=False)


def previous_of(rows: Tensor) -> Tensor:
    """What is read before each token of the rows `[B, T]`: a start, which says that what was before is not seen."""
    return torch.cat([rows.new_full((len(rows), 1), START), rows[:, :-1]], dim=1)
