"""Encoder and decoder as one net, and its loss."""

from torch import Tensor, nn

from saccade.nets import (
    Decoder,
    DecoderOutput,
    Encoded,
    PointerGenerator,
    RnnEncoder,
    TransformerEncoder,
    coverage_loss,
    known_ids,
    make_embedding,
    make_rnn_decoder,
    make_transformer_decoder,
    make_transformer_encoder,
    target_loss,
)
from saccade.nets.from_settings import RNN_STD
from saccade.tasks.translation.settings import RnnSettings, TransformerSettings
from saccade.text import Batch


class TranslationNet(nn.Module):
    """Reads a source and writes a target, both as numbers."""

    def __init__(
        self,
        encoder: RnnEncoder | TransformerEncoder,
        decoder: Decoder,  # pyright: ignore[reportMissingTypeArgument] - any state will do
        *,
        max_length: int,
        copying: bool,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder: Decoder = PointerGenerator(decoder) if copying else decoder  # pyright: ignore[reportMissingTypeArgument]
        self.max_length = max_length
        self.copying = copying

    def encode(self, source: Tensor, lengths: Tensor, *, need_weights: bool = False) -> Encoded:
        """What is read of the tokens `[B, S]`; if they can be copied, unknown words have numbers of their own."""
        if not self.copying:
            return self.encoder(source, lengths, need_weights=need_weights)
        read = known_ids(source, self.decoder.output.out_features)
        return self.encoder(read, lengths, need_weights=need_weights)._replace(copy_ids=source)

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
    return TranslationNet(encoder, decoder, max_length=settings.max_length, copying=settings.copying)


def _transformer(settings: TransformerSettings, source_size: int, target_size: int, *, joint: bool) -> TranslationNet:
    std = settings.dim**-0.5  # TokenEmbedding multiplies by √dim
    read = make_embedding(source_size, settings.dim, std)
    write = read if settings.tie_embeddings == "all" and joint else make_embedding(target_size, settings.dim, std)
    decoder = make_transformer_decoder(settings, write)
    encoder = make_transformer_encoder(settings, read)
    return TranslationNet(encoder, decoder, max_length=settings.max_length, copying=settings.copying)


def translation_loss(net: TranslationNet, batch: Batch, *, smoothing: float = 0.0, coverage: float = 0.0) -> Tensor:
    """The loss of a batch's targets, summed over their tokens; with that of coverage, so much of it."""
    output = net(batch)
    loss = target_loss(net.decoder, output, batch.target, smoothing=smoothing)
    if not coverage or output.copying is None:
        return loss
    return loss + coverage * coverage_loss(output.copying.attention, batch.target)
