"""Self-attention over the positions of an image's feature map."""

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_count, expect_instance, expect_tensor
from saccade.attention.functional import attend
from saccade.attention.memory import AttentionOutput
from saccade.attention.scores.dot import Dot
from saccade.attention.scores.score import Score


class SelfAttention2d(nn.Module):
    """Each position of a feature map looks at all others, and what it gathers is added to it (SAGAN, Zhang 2019).

    y = x + γ Wo attend(Wq x, Wk x, Wv x)        [B, C, height, width] -> [B, C, height, width]

    All projections are 1 × 1 convolutions, of queries and keys to `key_channels` (`C / 8`), of values to
    `value_channels` (`C / 2`). The gate `γ` starts at 0, so that the layer can be put into a trained CNN without
    disturbing it. The score is the dot product unless another is given, made for `key_channels`. Weights are
    `[B, P, P]` with `P = height · width`, row by row. What comes back is an `AttentionOutput`: the map is its
    `context`.
    """

    def __init__(
        self,
        channels: int,
        *,
        key_channels: int | None = None,
        value_channels: int | None = None,
        score: Score | None = None,
    ) -> None:
        super().__init__()
        expect_count("channels", channels)
        key_channels = max(1, channels // 8) if key_channels is None else key_channels
        value_channels = max(1, channels // 2) if value_channels is None else value_channels
        self.score = Dot() if score is None else score
        expect_instance("score", self.score, Score, example="Dot()")
        self.query_projection = nn.Conv2d(channels, key_channels, 1)
        self.key_projection = nn.Conv2d(channels, key_channels, 1)
        self.value_projection = nn.Conv2d(channels, value_channels, 1)
        self.output_projection = nn.Conv2d(value_channels, channels, 1)
        self.gate = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor, *, need_weights: bool = False) -> AttentionOutput:
        expect_tensor("x", x)
        channels = self.query_projection.in_channels
        if x.dim() != 4 or x.shape[1] != channels:
            raise ValueError(f"x: found shape {list(x.shape)}, wanted [batch, {channels}, height, width]")
        output = attend(
            _as_sequence(self.query_projection(x)),
            _as_sequence(self.key_projection(x)),
            _as_sequence(self.value_projection(x)),
            score=self.score,
            need_weights=need_weights,
        )
        gathered = output.context.transpose(1, 2).unflatten(2, x.shape[2:])  # [B, P, V] -> [B, V, height, width]
        return output._replace(context=x + self.gate * self.output_projection(gathered))


def _as_sequence(maps: Tensor) -> Tensor:
    return maps.flatten(2).transpose(1, 2)  # [B, C, height, width] -> [B, P, C]
