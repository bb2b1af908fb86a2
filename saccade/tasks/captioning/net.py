"""Image to words as one net, and its loss.

Letters: `B` batch, `P` regions of the grid, `C` channels, `T` words.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from saccade.nets import (
    Decoder,
    DecoderOutput,
    EfficientNetLite0,
    Encoded,
    GridEncoder,
    Level,
    RnnDecoder,
    SmallCnn,
    TransformerDecoder,
    make_embedding,
    make_rnn_decoder,
    make_transformer_decoder,
    target_loss,
)
from saccade.tasks.captioning.settings import (
    CaptionerSettings,
    CaptionRnnSettings,
    PretrainedEncoderSettings,
    SmallEncoderSettings,
)
from saccade.text import PAD


class CaptionBatch(NamedTuple):
    """Images with a caption each."""

    images: Tensor  # features [B, P, C] of a pretrained encoder, or pixels [B, 3, H, W] for one that learns
    previous: Tensor  # [B, T], the caption moved by one: START first
    target: Tensor  # [B, T], END last
    tokens: int  # real tokens of the captions, END among them


class FineTunedEncoder(nn.Module):
    """A pretrained CNN that learns with the rest: images `[B, 3, H, W]` to its features of one level."""

    def __init__(self, level: Level) -> None:
        super().__init__()
        self.cnn = EfficientNetLite0()
        self.level: Level = level

    def forward(self, images: Tensor) -> Tensor:
        return self.cnn.features(images, self.level)


class CaptionNet(nn.Module):
    """Looks at a grid and writes a caption, as numbers."""

    def __init__(
        self,
        image_encoder: nn.Module | None,
        encoder: GridEncoder,
        decoder: RnnDecoder | TransformerDecoder,
        *,
        max_length: int,
    ) -> None:
        """`image_encoder` is one that learns; the features of a pretrained one come in ready."""
        super().__init__()
        self.image_encoder = image_encoder
        self.encoder = encoder
        self.decoder: Decoder = decoder  # pyright: ignore[reportMissingTypeArgument] - any state will do
        self.max_length = max_length

    def encode(self, images: Tensor) -> Encoded:
        features = images if self.image_encoder is None else as_regions(self.image_encoder(images))
        return self.encoder(features)

    def forward(self, batch: CaptionBatch, *, need_weights: bool = False) -> DecoderOutput:
        """The decoder's features for the batch's own captions."""
        return self.decoder(self.encode(batch.images), batch.previous, need_weights=need_weights)


def as_regions(maps: Tensor) -> Tensor:
    """`[B, C, height, width]` -> `[B, P, C]`, row by row."""
    return maps.flatten(2).transpose(1, 2)


def make_caption_net(settings: CaptionerSettings, *, size: int, own: nn.Module | None = None) -> CaptionNet:
    """The net that the settings describe, for a vocabulary of that size; `own` is an image encoder of the user's."""
    model, how, grid = settings.model, settings.image_encoder, settings.image_encoder.grid
    if isinstance(how, SmallEncoderSettings):
        own = SmallCnn(how.channels, attend_after=how.attend_after, downsampling=how.downsampling)
    elif isinstance(how, PretrainedEncoderSettings) and how.fine_tune:
        own = FineTunedEncoder(how.level)
    if isinstance(model, CaptionRnnSettings):
        finals = 2 if model.cell == "lstm" else 1
        decoder = make_rnn_decoder(model, size, gate=model.gate and model.score != "none")
    else:
        finals = 0
        decoder = make_transformer_decoder(model, make_embedding(size, model.dim, model.dim**-0.5))
    encoder = GridEncoder(
        grid.channels,
        model.dim,
        side=grid.side,
        finals=finals,
        dropout=model.dropout,
        combine=model.positions_combine,
    )
    return CaptionNet(own, encoder, decoder, max_length=model.max_length)


def caption_loss(net: CaptionNet, batch: CaptionBatch, *, smoothing: float, doubly_stochastic: float) -> Tensor:
    """The loss of a batch's captions, summed over their words; and λ Σ_i (1 - Σ_t a_ti)² for each caption (Xu 2015)."""
    decoder_output = net(batch, need_weights=doubly_stochastic > 0)
    loss = target_loss(net.decoder, decoder_output, batch.target, smoothing=smoothing)
    if doubly_stochastic and decoder_output.weights is not None:
        loss = loss + doubly_stochastic * doubly_stochastic_penalty(decoder_output.weights, batch.target != PAD)
    return loss


def doubly_stochastic_penalty(weights: Tensor, real: Tensor) -> Tensor:
    """Σ_i (1 - Σ_t a_ti)² over words t that are `real` `[B, T]`, summed over the batch, the mean over layers and heads.

    The weights are `[B, L, H, T, P]`.
    """
    seen = torch.einsum("blhtp,bt->blhp", weights, real.to(weights.dtype))
    return (1 - seen).square().sum(-1).mean((1, 2)).sum()
