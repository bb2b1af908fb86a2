"""A small thing to learn, for tests of how it is learnt."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from saccade.base.model_folder import tensors_of
from saccade.base.shuffling import Cursor
from saccade.base.tensors import write_tensors
from saccade.training import Task, TrainSettings

STEPS = 8
SETTINGS: dict[str, Any] = {
    "steps": STEPS,
    "save_every": 2,
    "validate_every": 3,
    "warmup_steps": 0,
    "lr": 0.05,
    "tensorboard": False,
}


class TinyNet(nn.Module):
    """Three linear maps, one of them with a batch norm behind it, and a dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7))
        self.dropout = nn.Dropout(0.5)
        self.second = nn.Linear(7, 3)
        self.output = nn.Linear(3, 2, bias=False)
        self.tied = nn.Linear(3, 2, bias=False)
        self.tied.weight = self.output.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.second(self.dropout(self.first(x).tanh())).tanh())


class TinyModel:
    """The net, and where it was saved."""

    def __init__(self) -> None:
        torch.manual_seed(4)
        self.net = TinyNet()

    def save(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        write_tensors(folder / "model.safetensors", tensors_of(self.net))


class TinyTask(Task[Tensor, TinyModel]):
    """Numbers to their sines; each step is seen by whoever wants to look at it."""

    unit = "numbers"

    def __init__(self) -> None:
        self.model = TinyModel()
        self.seen: list[dict[str, Tensor]] = []  # the tensors at each batch, before the step

    def batches(self, cursor: Cursor) -> Iterator[tuple[Tensor, Cursor]]:
        for number in range(cursor.batch, 1 << 30):
            yield torch.randn(11, 5, generator=torch.Generator().manual_seed(number)), Cursor(0, number + 1)

    def loss(self, batch: Tensor) -> tuple[Tensor, int]:
        self.seen.append({name: tensor.detach().clone() for name, tensor in self.net.state_dict().items()})
        return (self.net(batch) - batch[:, :2].sin()).square().sum(), len(batch)

    def validate(self) -> dict[str, float]:
        batch, _ = next(self.batches(Cursor(0, 1 << 20)))
        return {"loss": float((self.net(batch) - batch[:, :2].sin()).square().mean())}


def settings(**changes: Any) -> TrainSettings:
    return TrainSettings(**{**SETTINGS, **changes})
