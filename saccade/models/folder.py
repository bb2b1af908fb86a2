"""The folder that a model is: config.yaml, model.safetensors, the vocabulary's own files. No pickle."""

from pathlib import Path
from typing import TypeVar

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from saccade.errors import InputError
from saccade.files import read_file, write_file
from saccade.settings import Settings, check_settings, read_yaml, write_yaml

CONFIG, WEIGHTS = "config.yaml", "model.safetensors"

S = TypeVar("S", bound=Settings)


def tensors_of(net: nn.Module) -> dict[str, Tensor]:
    """The tensors of a net by name; what is shared under two names stands there once."""
    tensors: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in net.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            tensors[name] = tensor.detach()
    return tensors


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file, whole or not at all."""
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    write_file(path, safetensors.torch.save(contiguous, metadata))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    content = read_file(path)
    try:
        return safetensors.torch.load(content)
    except (SafetensorError, ValueError) as error:
        raise InputError(f"{path}: damaged ({error}); copy the model's folder again") from None


def fill(net: nn.Module, tensors: dict[str, Tensor], *, where: str) -> None:
    """Put the tensors into the net. They have to be the net's, all of them and no others, and finite."""
    wanted = tensors_of(net)
    lost, strange = sorted(wanted.keys() - tensors.keys()), sorted(tensors.keys() - wanted.keys())
    if lost or strange:
        what = f"{lost[0]} is missing" if lost else f"{strange[0]} is not part of the model"
        raise InputError(f"{where}: {what}; it does not belong to the {CONFIG} beside it")
    for name, tensor in wanted.items():
        found = tensors[name]
        if found.shape != tensor.shape:
            raise InputError(
                f"{where}: {name} has shape {list(found.shape)}, wanted {list(tensor.shape)};"
                f" it does not belong to the {CONFIG} beside it"
            )
        if not bool(torch.isfinite(found).all()):
            raise InputError(f"{where}: {name} has numbers that are not finite; the model is of no use, train it anew")
        tensor.copy_(found)


def read_settings(kind: type[S], folder: Path) -> S:
    """The settings of a model's folder."""
    expect_model(folder)
    return check_settings(kind, read_yaml(folder / CONFIG), where=str(folder / CONFIG))


def read_weights(net: nn.Module, folder: Path) -> None:
    """Put the weights of a model's folder into the net, which is now for use, not for training."""
    fill(net, read_tensors(folder / WEIGHTS), where=str(folder / WEIGHTS))
    net.eval()


def write_model(folder: Path, settings: Settings, net: nn.Module) -> None:
    """Write settings, then weights. What else a folder has is written before: one that has weights is whole."""
    write_file(folder / CONFIG, write_yaml(settings).encode())
    write_tensors(folder / WEIGHTS, tensors_of(net))


def expect_model(folder: Path) -> None:
    """Raise unless the folder looks like a model."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; a model is the folder that `saccade train` ends with, RUN/model")
    missing = [name for name in (CONFIG, WEIGHTS) if not (folder / name).is_file()]
    if missing:
        inside = folder / "model"
        hint = (
            f"did you mean {inside}?" if (inside / CONFIG).is_file() else f"a model's folder has {CONFIG} and {WEIGHTS}"
        )
        raise InputError(f"{folder}: no {' and no '.join(missing)} there; {hint}")
