"""Which decoders and batches `transformer_step.c` is for."""

import ctypes
from pathlib import Path

import torch
from torch import Tensor

from saccade.native import library_for

_SOURCE = Path(__file__).with_name("transformer_step.c")

# With more rows than this, torch's matrix products make up for the many calls.
_FEW_ROWS = 8


def native_step(x: Tensor) -> ctypes.CDLL | None:
    """The loops, if they can work on the rows `x` and are the faster way."""
    if len(x) > _FEW_ROWS or x.dtype != torch.float32 or torch.is_grad_enabled():
        return None
    return library_for(x, _SOURCE)
