"""Encoders and decoders as settings describe them, for every model that reads or writes words."""

from torch import nn

from saccade.nets.context import GatedContext, make_context
from saccade.nets.rnn import RnnDecoder
from saccade.nets.settings import RecurrentSettings, TransformerEncoderSettings, TransformerSettings
from saccade.nets.transformer import LayerShape, TransformerDecoder, TransformerEncoder

RNN_STD = 0.1  # of the first embeddings of a recurrent net


def make_embedding(size: int, dim: int, std: float) -> nn.Embedding:
    embedding = nn.Embedding(size, dim)
    nn.init.normal_(embedding.weight, std=std)
    return embedding


def make_rnn_decoder(settings: RecurrentSettings, size: int, *, gate: bool = False) -> RnnDecoder:
    """The decoder for a vocabulary of that size; with a gate, it says how much of what it sees it wants."""
    embedding = make_embedding(size, settings.embedding, RNN_STD)
    context = make_context(settings.score, settings.weighting, settings.dim, activation=settings.score_activation)
    decoder = RnnDecoder(
        embedding,
        settings.dim,
        context=GatedContext(context, settings.dim) if gate else context,
        cell=settings.cell,
        order=settings.order,
        layers=settings.layers,
        input_feeding=settings.input_feeding,
        dropout=settings.dropout,
        bridge=settings.bridge,
        readout=settings.readout,
    )
    if settings.tie_embeddings == "output":
        decoder.output.weight = decoder.embedding.weight
    return decoder


def layer_shape(settings: TransformerEncoderSettings) -> LayerShape:
    return LayerShape(
        settings.dim,
        settings.heads,
        settings.feed_forward,
        settings.norm,
        settings.positions,
        settings.score,
        settings.activation,
        settings.dropout,
        settings.attention_dropout,
        settings.feed_forward_dropout,
        settings.positions_combine,
        settings.score_activation,
    )


def make_transformer_encoder(settings: TransformerEncoderSettings, embedding: nn.Embedding) -> TransformerEncoder:
    """The encoder that reads with this embedding."""
    shape = layer_shape(settings)
    return TransformerEncoder(embedding, shape, layers=settings.layers, max_length=settings.max_length)


def make_transformer_decoder(settings: TransformerSettings, embedding: nn.Embedding) -> TransformerDecoder:
    """The decoder that writes with this embedding."""
    decoder = TransformerDecoder(
        embedding, layer_shape(settings), layers=settings.layers, max_length=settings.max_length
    )
    if settings.tie_embeddings != "none":
        decoder.output.weight = embedding.weight
    return decoder
