"""Nets that read running text, of which each token knows those before it: decoders without a source."""

from typing import Any

import torch
from torch import Tensor

from saccade.nets.context import NoContext, PastContext
from saccade.nets.decoder import Decoder
from saccade.nets.from_settings import RNN_STD, layer_shape, make_embedding
from saccade.nets.rnn import RnnDecoder
from saccade.nets.settings import LanguageRnnSettings, LanguageTransformerSettings
from saccade.nets.transformer import TransformerDecoder
from saccade.text import START

LanguageNet = Decoder[Any]


def make_language_net(settings: LanguageRnnSettings | LanguageTransformerSettings, *, size: int) -> LanguageNet:
    """The net that the settings describe, for a vocabulary of that size."""
    return _rnn(settings, size) if isinstance(settings, LanguageRnnSettings) else _transformer(settings, size)


def _rnn(settings: LanguageRnnSettings, size: int) -> RnnDecoder:
    past = {"score": settings.score, "weighting": settings.weighting}
    decoder = RnnDecoder(
        make_embedding(size, settings.embedding, RNN_STD),
        settings.dim,
        context=NoContext() if settings.score == "none" else PastContext(settings.dim, **past, window=settings.window),
        cell=settings.cell,
        order="luong",
        layers=settings.layers,
        input_feeding=settings.input_feeding,
        dropout=settings.dropout,
        has_source=False,
    )
    if settings.tie_embeddings == "output":
        decoder.output.weight = decoder.embedding.weight
    return decoder


def _transformer(settings: LanguageTransformerSettings, size: int) -> TransformerDecoder:
    embedding = make_embedding(size, settings.dim, settings.dim**-0.5)  # TokenEmbedding multiplies by √dim
    shape = layer_shape(settings)
    decoder = TransformerDecoder(
        embedding, shape, layers=settings.layers, max_length=settings.max_length, has_source=False
    )
    if settings.tie_embeddings == "output":
        decoder.output.weight = embedding.weight
    return decoder


def previous_of(rows: Tensor) -> Tensor:
    """What is read before each token of the rows `[B, T]`: a start, which says that what was before is not seen."""
    return torch.cat([rows.new_full((len(rows), 1), START), rows[:, :-1]], dim=1)
