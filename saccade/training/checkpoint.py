"""All that a training needs to go on as if it had never stopped, in one file that is whole or not there."""

import json
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from saccade.base.errors import InputError
from saccade.base.model_folder import fill, tensors_of
from saccade.base.shuffling import Cursor
from saccade.base.tensors import read_header, read_tensors, write_tensors

REMEDY = "begin again, in another folder"


class Progress(NamedTuple):
    """Where a training is, apart from its tensors."""

    step: int = 0
    cursor: Cursor = Cursor()
    validated: int = 0  # the step of the last validation
    best: float | None = None  # the monitored figure, higher is better
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
    tensors, metadata = read_tensors(path, _wanted(path, net), remedy=REMEDY)
    fill(net, _under("net.", tensors), where=str(path))
    # a net's shared parameters have one name, its first, here as in named_parameters
    for name, parameter in net.named_parameters():
        state = _under(f"optimizer.{name}.", tensors)
        if state:
            optimizer.state[parameter] = dict(state)
    try:
        record = json.loads(metadata["progress"])
        return Progress(**record | {"cursor": Cursor(*record["cursor"])})
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: damaged, it does not say how far it is; {REMEDY}") from None


def _wanted(path: Path, net: nn.Module) -> dict[str, Tensor]:
    """What the file has to hold: the net, and of each parameter what the optimizer knows, if it knows anything.

    Which numbers these are is up to the optimizer: a count, or something in the shape of the parameter.
    """
    wanted = {f"net.{name}": tensor for name, tensor in tensors_of(net).items()}
    parameters = dict(net.named_parameters())
    for name, (_, shape) in read_header(path, remedy=REMEDY).tensors.items():
        owner, _, key = name.removeprefix("optimizer.").rpartition(".")
        if name.startswith("optimizer.") and owner in parameters and key:
            parameter = parameters[owner].detach()
            wanted[name] = parameter if shape else torch.zeros(())
    return wanted


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
