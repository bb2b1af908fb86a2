"""An image's feature map as something that a decoder can look at.

Letters: `B` batch, `P` regions of the grid, `C` channels of the features, `D` dim.
"""

import math

import torch
from torch import Tensor, nn

from saccade.attention.positions import Combine
from saccade.nets.decoder import Encoded
from saccade.nets.dropout import Dropout
from saccade.runtime.bfloat16 import apply_linear


class GridEncoder(nn.Module):
    """h_i = W norm(a_i) + p_i: features `[B, P, C]` -> states `[B, P, D]`, each knowing where it is by `p`.

    Or h_i = W [norm(a_i), p_i] where positions are concatenated, `W` being `[D, C + D]`.

    p_i begins as sinusoids over the rows and the columns, and is learnt from there. What the encoder ends with, for a
    recurrent decoder to begin from, is the mean of the states (Xu 2015): `finals` times.
    """

    def __init__(
        self, channels: int, dim: int, *, side: int, finals: int, dropout: float, combine: Combine = "add"
    ) -> None:
        super().__init__()
        self.combine: Combine = combine
        self.norm = nn.LayerNorm(channels)
        self.projection = nn.Linear(channels if combine == "add" else channels + dim, dim)
        self.positions = nn.Parameter(torch.empty(side * side, dim))
        if not self.positions.is_meta:  # a net without numbers has no first ones; torch would take a second to see that
            with torch.no_grad():
                self.positions.copy_(sinusoids_2d(side, dim))
        self.dropout = Dropout(dropout)
        self.finals = finals

    def forward(self, features: Tensor) -> Encoded:
        x = self.norm(features)
        if self.combine == "add":
            states = apply_linear(self.projection, x) + self.positions  # [B, P, D]
        else:
            beside = self.positions.expand(len(x), -1, -1)
            states = apply_linear(self.projection, torch.cat([x, beside], dim=-1))
        states = self.dropout(states)
        mask = torch.ones(states.shape[0], 1, states.shape[1], dtype=torch.bool, device=states.device)
        return Encoded(states, mask, (states.mean(1),) * self.finals)


def sinusoids_2d(side: int, dim: int) -> Tensor:
    """`[side · side, dim]`, row by row: sin ωy, cos ωy, sin ωx, cos ωx of each region, for dim / 4 frequencies ω.

    The longest wave rises once from edge to edge, so that it tells how far down or right a region is; the shortest is
    some six regions long. Numbers that are left over are 0.
    """
    count = dim // 4
    slowest = math.pi / 2 / max(side - 1, 1)
    speeds = slowest ** torch.linspace(0, 1, count)  # from 1 down to the slowest
    angles = torch.arange(side)[:, None] * speeds  # [side, count]
    along = torch.cat([angles.sin(), angles.cos()], dim=1)  # [side, 2 count]
    rows, columns = along.repeat_interleave(side, dim=0), along.repeat(side, 1)
    return nn.functional.pad(torch.cat([rows, columns], dim=1), (0, dim - 4 * count))
