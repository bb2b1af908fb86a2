"""All that a training needs to go on as if it had never stopped, in one file that is whole or not there."""

import json
from pathlib import Path
from typing import NamedTuple

import safetensors
import torch
from torch import Tensor, nn

from saccade.data import Cursor
from saccade.errors import InputError
from saccade.models.folder import fill, read_tensors, tensors_of, write_tensors


class Progress(NamedTuple):
    """Where a training is, apart from its tensors."""

    step: int = 0
    cursor: Cursor = Cursor()
    best: float | None = None  # the watched figure, higher is better
    best_loss: float = 0.0  # of the same validation
    best_step: int = 0
    since_best: int = 0  # validations since then
    seconds: float = 0.0
    window_loss: float = 0.0  # summed since the last line of the journal
    window_items: int = 0


def save_checkpoint(path: Path, net: nn.Module, optimizer: torch.optim.Optimizer, progress: Progress) -> None:
    """Write net, optimizer and progress."""
    tensors = {f"net.{name}": tensor for name, tensor in tensors_of(net).items()}
    names: dict[Tensor, str] = {parameter: name for name, parameter in net.named_parameters()}
    for parameter, state in optimizer.state.items():
        tensors |= {f"optimizer.{names[parameter]}.{key}": value for key, value in state.items()}
    record = progress._asdict() | {"cursor": list(progress.cursor)}
    write_tensors(path, tensors, {"progress": json.dumps(record)})


def load_checkpoint(path: Path, net: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Put back what `save_checkpoint` wrote."""
    tensors = read_tensors(path)
    fill(net, _under("net.", tensors), where=str(path))
    # a net's shared parameters have one name, its first, here as in named_parameters
    for name, parameter in net.named_parameters():
        state = _under(f"optimizer.{name}.", tensors)
        if state:
            optimizer.state[parameter] = dict(state)
    try:
        with safetensors.safe_open(str(path), framework="pt") as file:
            record = json.loads(file.metadata()["progress"])
        return Progress(**record | {"cursor": Cursor(*record["cursor"])})
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: damaged, it does not say how far it is; begin again in another folder") from None


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
