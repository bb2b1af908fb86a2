"""A net as it is used, whatever it is doing otherwise."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from saccade.runtime.modules import all_modules


@contextmanager
def evaluating(net: nn.Module) -> Iterator[None]:
    """Without dropout and gradients; afterwards the net is as it was."""
    # most nets are in evaluation already, and to look costs a quarter of what setting all modules anew would
    training = [module for module in all_modules(net) if module.training]
    for module in training:
        module.training = False
    try:
        with torch.inference_mode():
            yield
    finally:
        for module in training:
            module.training = True
