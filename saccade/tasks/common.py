"""What the tasks have in common."""

from collections.abc import Sequence

from torch import nn

from saccade.train import TrainSettings

VOCABULARY = "vocabulary"  # the folder of a run that its vocabulary is kept in


def expect_watched(train: TrainSettings, figures: Sequence[str]) -> None:
    """Raise unless the figure that the best model is to be best at is one that validation gives."""
    if train.watch not in figures:
        raise ValueError(f"train.watch: found {train.watch!r}, wanted one of {', '.join(figures)}")


def count_parameters(net: nn.Module) -> int:
    """How many numbers a net learns."""
    return sum(parameter.numel() for parameter in net.parameters())
