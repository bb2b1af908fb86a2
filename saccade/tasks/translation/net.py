"""Encoder and decoder as one net, and its loss."""

from torch import Tensor, nn

from saccade.nets import (
    Decoder,
    DecoderOutput,
    Encoded,
    RnnDecoder,
    RnnEncoder,
    TransformerDecoder,
    TransformerEncoder,
    make_embedding,
    make_rnn_decoder,
    make_transformer_decoder,
    make_transformer_encoder,
    target_loss,
)
from saccade.nets.from_settings import RNN_STD
from saccade.nets.settings import TransformerSettings
from saccade.tasks.translation.settings import RnnSettings
from saccade.text import Batch


class TranslationNet(nn.Module):
    """Reads a source and writes a target, both as numbers."""

    def __init__(
        self, encoder: RnnEncoder | TransformerEncoder, decoder: RnnDecoder | TransformerDecoder, *, max_length: int
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder: Decoder = decoder  # pyright: ignore[reportMissingTypeArgument] - any state will do
        self.max_length = max_length

    def encode(self, source: Tensor, lengths: Tensor, *, need_weights: bool = False) -> Encoded:
        return self.encoder(source, lengths, need_weights=need_weights)

    def forward(self, batch: Batch, *, need_weights: bool = False) -> DecoderOutput:
        """The decoder's features for the batch's own targets."""
        return self.decoder(self.encode(batch.source, batch.source_lengths), batch.previous, need_weights=need_weights)


def make_net(
    settings: RnnSettings | TransformerSettings, *, source_size: int, target_size: int, joint: bool
) -> TranslationNet:
    """The net that the settings describe, for vocabularies of these sizes."""
    build = _rnn if isinstance(settings, RnnSettings) else _transformer
    return build(settings, source_size, target_size, joint=joint)  # pyright: ignore[reportArgumentType]


def _rnn(settings: RnnSettings, source_size: int, target_size: int, *, joint: bool) -> TranslationNet:
    encoder = RnnEncoder(
        make_embedding(source_size, settings.embedding, RNN_STD),
        settings.dim,
        cell=settings.cell,
        layers=settings.layers,
        bidirectional=settings.bidirectional,
        dropout=settings.dropout,
    )
    decoder = make_rnn_decoder(settings, target_size)
    return TranslationNet(encoder, decoder, max_length=settings.max_length)


def _transformer(settings: TransformerSettings, source_size: int, target_size: int, *, joint: bool) -> TranslationNet:
    std = settings.dim**-0.5  # TokenEmbedding multiplies by √dim
    read = make_embedding(source_size, settings.dim, std)
    write = read if settings.tie_embeddings == "all" and joint else make_embedding(target_size, settings.dim, std)
    decoder = make_transformer_decoder(settings, write)
    encoder = make_transformer_encoder(settings, read)
    return TranslationNet(encoder, decoder, max_length=settings.max_length)


def translation_loss(net: TranslationNet, batch: Batch, *, smoothing: float = 0.0) -> Tensor:
    """The loss of a batch's targets, summed over their tokens."""
    return target_loss(net.decoder, net(batch), batch.target, smoothing=smoothing)
