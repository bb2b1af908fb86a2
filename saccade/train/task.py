"""What the one training loop asks of any task."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from saccade.data import Cursor

BatchT = TypeVar("BatchT")


class Task(ABC, Generic[BatchT]):
    """A net, what it learns from, and how good it has become."""

    net: nn.Module
    unit: str  # what the items of a loss are: "tokens"

    @abstractmethod
    def batches(self, cursor: Cursor) -> Iterator[tuple[BatchT, Cursor]]:
        """The batches from `cursor` on, endlessly, each with the cursor that comes after it."""

    @abstractmethod
    def loss(self, batch: BatchT) -> tuple[Tensor, int]:
        """The loss of a batch, summed over its items, and how many items these are."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Figures by name. The one called `loss` is better when lower, all others when higher."""

    @abstractmethod
    def save_model(self, folder: Path) -> None:
        """Write the finished model."""

    def pictures(self) -> dict[str, NDArray[np.float32]]:
        """Attention maps `[rows, columns]` of a few fixed examples, by name."""
        return {}
