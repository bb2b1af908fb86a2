"""What the net of a language model, a decoder without a source, is trained by."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.nets import LanguageNet, previous_of, target_loss


def language_loss(net: LanguageNet, rows: NDArray[Any], *, smoothing: float = 0.0) -> Tensor:
    """The cross entropy of each token of the rows `[B, T]`, summed."""
    target = torch.from_numpy(rows.astype(np.int64))
    return target_loss(net, net(None, previous_of(target)), target, smoothing=smoothing)
