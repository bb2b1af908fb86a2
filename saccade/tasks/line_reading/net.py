"""Strips to letters as one net, by CTC or by attention.

Letters: `B` batch, `H` height, `W` width, `T` columns, `V` vocabulary.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.nets import LineEncoder, make_rnn_decoder, target_loss
from saccade.nets.settings import RecurrentSettings
from saccade.tasks.line_reading.settings import LineSettings
from saccade.text import PAD, START, pad


class LineNet(nn.Module):
    """Strips `[B, 1, H, W]` to letters: `columns` by CTC, `decoder` by attention; a model has one of the two."""

    def __init__(self, settings: LineSettings, size: int) -> None:
        super().__init__()
        self.encoder = LineEncoder(settings.dim, height=settings.height, dropout=settings.dropout)
        self.columns = nn.Linear(settings.dim, size) if settings.kind == "ctc" else None
        recurrent = RecurrentSettings(
            kind="rnn", dim=settings.dim, embedding=settings.dim // 2, dropout=settings.dropout
        )
        self.decoder = make_rnn_decoder(recurrent, size) if settings.kind == "attention" else None

    def log_probs(self, strips: Tensor) -> Tensor:
        """What each column writes, by CTC: `[B, T, V]`; PAD is the blank."""
        assert self.columns is not None
        return self.columns(self.encoder(strips).states).log_softmax(-1)

    def loss(self, strips: Tensor, targets: Sequence[Sequence[int]]) -> Tensor:
        """Of texts as numbers with END last, summed over the batch."""
        if self.decoder is not None:
            decoder_output = self.decoder(self.encoder(strips), pad([[START, *ids[:-1]] for ids in targets]))
            return target_loss(self.decoder, decoder_output, pad(targets), smoothing=0.0)
        log_probs = self.log_probs(strips).transpose(0, 1)  # [T, B, V]
        letters = [ids[:-1] for ids in targets]
        return F.ctc_loss(
            log_probs,
            torch.tensor([letter for ids in letters for letter in ids]),
            torch.full((len(letters),), len(log_probs)),
            torch.tensor([len(ids) for ids in letters]),
            blank=PAD,
            reduction="sum",
            zero_infinity=True,
        )
