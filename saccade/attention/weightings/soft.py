"""Soft attention."""

import torch
from torch import Tensor

from saccade.attention.weightings.weighting import WindowedSoftmax


class Soft(WindowedSoftmax):
    """The softmax over all keys (Bahdanau 2015; "global" in Luong 2015).

    a[t, s] = exp(e[t, s]) / Σ_j exp(e[t, j])
    """

    def narrow(
        self, mask: Tensor | None, *, shape: torch.Size, device: torch.device, state: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        return mask, state
