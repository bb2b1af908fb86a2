"""An image's feature map as something that a decoder can look at.

Letters: `B` batch, `P` places of the grid, `C` channels of the features, `D` dim.
"""

import torch
from torch import Tensor, nn

from saccade.nets.decoder import Encoded
from saccade.nets.dropout import Dropout


class GridEncoder(nn.Module):
    """h_i = W norm(a_i) + p_i: features `[B, P, C]` -> states `[B, P, D]`, each knowing where it is by `p`.

    What it ends with, for a recurrent decoder to begin from, is the mean of the states (Xu 2015): `finals` times.
    """

    def __init__(self, channels: int, dim: int, *, places: int, finals: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.projection = nn.Linear(channels, dim)
        self.positions = nn.Parameter(torch.empty(places, dim))
        nn.init.normal_(self.positions, std=0.02)
        self.dropout = Dropout(dropout)
        self.finals = finals

    def forward(self, features: Tensor) -> Encoded:
        states = self.dropout(self.projection(self.norm(features)) + self.positions)  # [B, P, D]
        mask = torch.ones(len(states), 1, states.shape[1], dtype=torch.bool, device=states.device)
        return Encoded(states, mask, (states.mean(1),) * self.finals)
