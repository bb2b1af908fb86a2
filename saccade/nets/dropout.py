"""Dropout as a layer."""

from torch import Tensor, nn

from saccade.nets._kernels.dropout import dropout


class Dropout(nn.Module):
    """`nn.Dropout`, several times faster on a CPU, with an addition on the way: `onto + dropout(x)`.

    The masks come from torch's generator, as those of `nn.Dropout`, but are others for the same seed.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: Tensor, *, onto: Tensor | None = None) -> Tensor:
        if self.training and self.probability:
            return dropout(x, self.probability, onto=onto)
        return x if onto is None else onto + x
