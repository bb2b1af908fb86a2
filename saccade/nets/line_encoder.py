"""A strip of writing as a sequence of columns.

Letters: `B` batch, `H` height, `W` width, `T` columns, `C` channels, `D` dim.
"""

import torch
from torch import Tensor, nn

from saccade.nets.cells import KINDS, run_traceable
from saccade.nets.decoder import Encoded
from saccade.nets.dropout import Dropout
from saccade.nets.small_cnn import PlainBlock
from saccade.runtime.kernel_conditions import is_bare, is_eager

NARROWING = 4  # pixels of width for a column


class LineEncoder(nn.Module):
    """Strips `[B, 1, H, W]` -> states `[B, W / 4, D]`: two plain blocks, then a GRU along the columns, both ways."""

    def __init__(self, dim: int, *, height: int, channels: tuple[int, int] = (32, 64), dropout: float) -> None:
        super().__init__()
        self.blocks = nn.Sequential(PlainBlock(1, channels[0]), PlainBlock(*channels))
        self.column = nn.Linear(channels[1] * (height // NARROWING), dim)
        self.rnn = nn.GRU(dim, dim // 2, batch_first=True, bidirectional=True)
        self.dropout = Dropout(dropout)

    def forward(self, strips: Tensor) -> Encoded:
        maps = self.blocks(strips)  # [B, C, H / 4, T]
        columns = torch.relu(self.column(maps.permute(0, 3, 1, 2).flatten(2)))  # [B, T, D]
        columns = self.dropout(columns)
        mask = torch.ones(columns.shape[0], 1, columns.shape[1], dtype=torch.bool, device=columns.device)
        if is_eager() or not is_bare(self.rnn, *KINDS):
            states, last = self.rnn(columns)
            final = last.transpose(0, 1).flatten(1)
        else:
            states, (final,) = run_traceable(self.rnn, columns, mask[:, 0])
        return Encoded(self.dropout(states), mask, (final,))
