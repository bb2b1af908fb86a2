"""Encoder and decoder as one net, and its loss."""

import torch
from torch import Tensor, nn

from saccade.attention import Choice
from saccade.data import PAD, Batch
from saccade.models.settings import RnnSettings, TransformerSettings
from saccade.nets import (
    Decoder,
    Encoded,
    Forced,
    LayerShape,
    RnnDecoder,
    RnnEncoder,
    TransformerDecoder,
    TransformerEncoder,
    make_context,
    projected_cross_entropy,
)


class TranslationNet(nn.Module):
    """Reads a source and writes a target, both as numbers."""

    def __init__(
        self, encoder: RnnEncoder | TransformerEncoder, decoder: RnnDecoder | TransformerDecoder, *, longest: int
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder: Decoder = decoder  # pyright: ignore[reportMissingTypeArgument] - any state will do
        self.longest = longest

    def encode(self, source: Tensor, lengths: Tensor, *, need_weights: bool = False) -> Encoded:
        return self.encoder(source, lengths, need_weights=need_weights)

    def forward(self, batch: Batch, *, need_weights: bool = False) -> Forced:
        """The decoder's features for the batch's own targets."""
        return self.decoder(self.encode(batch.source, batch.source_lengths), batch.previous, need_weights=need_weights)


def make_net(
    settings: RnnSettings | TransformerSettings, *, source_size: int, target_size: int, joint: bool
) -> TranslationNet:
    """The net that the settings describe, for vocabularies of these sizes."""
    build = _rnn if isinstance(settings, RnnSettings) else _transformer
    return build(settings, source_size, target_size, joint=joint)  # pyright: ignore[reportArgumentType]


def _embedding(size: int, dim: int, std: float) -> nn.Embedding:
    embedding = nn.Embedding(size, dim)
    nn.init.normal_(embedding.weight, std=std)
    return embedding


def _rnn(settings: RnnSettings, source_size: int, target_size: int, *, joint: bool) -> TranslationNet:
    encoder = RnnEncoder(
        _embedding(source_size, settings.embedding, 0.1),
        settings.dim,
        cell=settings.cell,
        layers=settings.layers,
        two_directions=settings.two_directions,
        dropout=settings.dropout,
    )
    decoder = RnnDecoder(
        _embedding(target_size, settings.embedding, 0.1),
        settings.dim,
        context=make_context(settings.score, settings.weighting, settings.dim),
        cell=settings.cell,
        order=settings.order,
        layers=settings.layers,
        input_feeding=settings.input_feeding,
        dropout=settings.dropout,
    )
    if settings.tie == "output":
        decoder.output.weight = decoder.embedding.weight
    return TranslationNet(encoder, decoder, longest=settings.longest)


def _transformer(settings: TransformerSettings, source_size: int, target_size: int, *, joint: bool) -> TranslationNet:
    shape = LayerShape(
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
    )
    std = settings.dim**-0.5  # TokensInPlace multiplies by √dim
    read = _embedding(source_size, settings.dim, std)
    write = read if settings.tie == "all" and joint else _embedding(target_size, settings.dim, std)
    decoder = TransformerDecoder(write, shape, layers=settings.layers, longest=settings.longest)
    if settings.tie != "none":
        decoder.output.weight = write.weight
    encoder = TransformerEncoder(read, shape, layers=settings.layers, longest=settings.longest)
    return TranslationNet(encoder, decoder, longest=settings.longest)


def translation_loss(net: TranslationNet, batch: Batch, *, smoothing: float = 0.0) -> Tensor:
    """The label-smoothed cross entropy (Szegedy 2016) of a batch's targets, summed over their tokens.

    With hard attention that learns by REINFORCE, its extra loss is added.
    """
    forced = net(batch)
    output = net.decoder.output
    losses = projected_cross_entropy(
        forced.features.flatten(0, 1),
        output.weight,
        output.bias,
        batch.target.flatten(),
        smoothing=smoothing,
        ignore=PAD,
    )
    if forced.choice is not None:
        return losses.total + _reinforce(forced.choice, losses.each.view_as(batch.target), batch.target != PAD)
    return losses.total


def _reinforce(choice: Choice, losses: Tensor, real: Tensor) -> Tensor:
    """The extra loss of hard attention (Xu 2015), for rewards that are the log likelihood of the words.

    A draw is rewarded for the word that it is for. The baseline is the mean reward of the other words of the batch, so
    that nothing has to be kept from one batch to the next.
    """
    reward = -losses  # [B, T]
    count = real.sum()
    baseline = (reward.sum() - reward) / (count - 1).clamp(min=1)
    return torch.where(real, choice.loss(reward, baseline=baseline, entropy_weight=0.01), 0.0).sum()
