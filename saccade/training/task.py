"""What the one training loop asks of any task."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from saccade.base.shuffling import Cursor


class Trainable(Protocol):
    """A model, as far as a training knows it."""

    @property
    def net(self) -> nn.Module: ...

    def save(self, folder: Path) -> None: ...


BatchT = TypeVar("BatchT")
ModelT = TypeVar("ModelT", bound=Trainable)


class Task(ABC, Generic[BatchT, ModelT]):
    """A model, what it learns from, and how good it has become."""

    model: ModelT
    unit: str  # what the items of a loss are: "tokens"
    one_shape: bool = False  # whether batches have the same shape, all but some
    better_lower: Sequence[str] = ("loss",)  # the figures of `validate` that are better when lower

    @property
    def net(self) -> nn.Module:
        """What is trained."""
        return self.model.net

    @abstractmethod
    def batches(self, cursor: Cursor) -> Iterator[tuple[BatchT, Cursor]]:
        """The batches from `cursor` on, endlessly, each with the cursor that comes after it."""

    @abstractmethod
    def loss(self, batch: BatchT) -> tuple[Tensor, int]:
        """The loss of a batch, summed over its items, and how many items these are."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Figures by name, `loss` among them; better when higher, but for those in `better_lower`."""

    def attention_maps(self) -> dict[str, NDArray[np.float32]]:
        """Attention maps `[rows, columns]` of a few fixed examples, by name."""
        return {}


def count_parameters(net: nn.Module) -> int:
    """How many numbers a net learns."""
    return sum(parameter.numel() for parameter in net.parameters())
