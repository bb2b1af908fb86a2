"""A net as it is used, whatever it is doing otherwise."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def evaluating(net: nn.Module) -> Iterator[None]:
    """Without dropout and gradients; afterwards the net is as it was."""
    was_training = net.training
    net.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        net.train(was_training)
