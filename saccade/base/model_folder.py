"""The folder that a model is: config.yaml, model.safetensors, the vocabulary's own files. No pickle.

The weights' file has the checksums of all files, its own among them. It is written last, so that a folder whose files
fit together is whole, and the weights of a training change in one step from those of one validation to the next.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from saccade.base.errors import InputError
from saccade.base.files import is_leftover, make_folder, read_own, write_file
from saccade.base.settings import Settings, check_settings, read_yaml, write_yaml
from saccade.base.tensors import Header, expect_tensors, read_header, read_tensors, write_tensors

CONFIG, WEIGHTS = "config.yaml", "model.safetensors"
RUN, MODEL = "run.json", "model"  # what a run's folder is known by, and the folder in it that its model is
FORMAT = 1  # of the folder; config.yaml says it first

_REMEDY = "copy the model's folder again"
_MOST_BYTES = 1 << 30  # of a vocabulary, or of a pretrained net
_LARGEST = 1e12  # weight; no net that learnt anything has one, and products of larger ones are soon infinite

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


def fill(net: nn.Module, tensors: dict[str, Tensor], *, where: str) -> None:
    """Put the tensors into the net: all that it has, each in its shape, and finite."""
    for name, tensor in tensors_of(net).items():
        found = tensors.get(name)
        if found is None or found.shape != tensor.shape:
            shape = "nothing" if found is None else list(found.shape)
            raise InputError(f"{where}: {name}: found {shape}, wanted {list(tensor.shape)}; it is of another net")
        if not bool((found.abs() <= _LARGEST).all()):  # nor are those that are no numbers
            raise InputError(f"{where}: {name} has numbers that are not finite; the model is of no use, train it anew")
        tensor.copy_(found)


def read_into(net: nn.Module, path: Path, *, remedy: str = _REMEDY) -> None:
    """Put the tensors of a file into the net; the file has to have all of them and no others."""
    tensors, _ = read_tensors(path, tensors_of(net), remedy=remedy)
    fill(net, tensors, where=str(path))


def model_folder(path: Path) -> Path:
    """The model's folder that is meant: the folder itself, or of a run the model that it has so far."""
    if not path.is_dir():
        what = "a file" if path.exists() else "no such folder"
        raise InputError(f"{path}: {what}; a model is the folder that `saccade train` ends with, RUN/model")
    if (path / RUN).is_file() and not (path / WEIGHTS).exists():
        path = path / MODEL
        if not (path / WEIGHTS).exists():  # which is written last
            raise InputError(
                f"{path.parent}: this training has no model yet; it has one from its first validation on, or when it is"
                f" stopped; to go on: saccade train --run {path.parent}"
            )
    missing = [name for name in (CONFIG, WEIGHTS) if not (path / name).is_file()]
    if missing:
        inside = path / MODEL
        hint = f"did you mean {inside}?" if (inside / CONFIG).is_file() else f"a model has {CONFIG} and {WEIGHTS}"
        raise InputError(f"{path}: no {' and no '.join(missing)} there; {hint}")
    return path


def expect_own(folder: Path) -> None:
    """Raise unless a model may be written there: a new folder, an empty one, one that has a model, a run's."""
    if not folder.is_dir() or (folder / WEIGHTS).is_file() or (folder.parent / RUN).is_file():
        return
    others = sorted(path.name for path in folder.iterdir() if not is_leftover(path.name))
    if others:
        raise InputError(f"{folder} has other things in it, such as {others[0]}, and no model; choose a new folder")


def expect_whole(folder: Path) -> None:
    """Raise unless every file of a model's folder is as it was written; the message names the one that is not."""
    path = folder / WEIGHTS
    files = _files_of(read_header(path, remedy=_REMEDY), path)
    for name, digest in files.items():
        if not (folder / name).exists():
            raise InputError(f"{folder}: no {name} there, which belongs to the model; {_REMEDY}")
        if file_digest(folder / name) != digest:
            raise InputError(f"{folder / name}: damaged, or changed since the model was written; {_REMEDY}")


def _files_of(header: Header, path: Path) -> dict[str, str]:
    """The checksums of the files beside the weights, by their names."""
    try:
        files = json.loads(header.metadata["files"])
        digests = {name: str(digest) for name, digest in files.items()}
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        digests = None
    if digests is None or not all(re.fullmatch(r"[\w-][\w.-]{0,99}", name) for name in digests):
        raise InputError(f"{path}: damaged, it does not say which files are beside it; {_REMEDY}")
    return digests


def file_digest(path: Path) -> str:
    """The checksum of a file that saccade wrote."""
    return hashlib.sha256(read_own(path, most=_MOST_BYTES)).hexdigest()


def read_config(folder: Path) -> dict[str, Any]:
    """What the config.yaml of a model's folder says, whose files all have to be as they were written."""
    path = folder / CONFIG
    try:
        values = read_yaml(path)
    except InputError:
        expect_whole(folder)  # that it is damaged says more than what came of it
        raise
    if not isinstance(values, dict):
        expect_whole(folder)
        raise InputError(f"{path}: found no settings there; {_REMEDY}")
    found = values.pop("format", None)
    if found != FORMAT:
        expect_whole(folder)
        newer = isinstance(found, int) and found > FORMAT
        remedy = "install a newer saccade" if newer else "train it anew with this saccade"
        raise InputError(f"{path}: a model of format {str(found)[:20]}, wanted {FORMAT}; {remedy}")
    expect_whole(folder)
    return values


def read_settings(kind: type[S], folder: Path) -> S:
    """The settings of a model's folder."""
    return check_settings(kind, read_config(folder), where=str(folder / CONFIG))


class _HasNet(Protocol):
    @property
    def net(self) -> nn.Module: ...


ModelT = TypeVar("ModelT", bound=_HasNet)


class _Undrawn(TorchFunctionMode):
    """Draws no first weights: a net without numbers needs none, and torch takes seconds to see that."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(function, "__module__", None) == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        function = torch.empty if function is torch.randn else function
        return function(*args, **(kwargs or {}))


def load_model(make: Callable[[], ModelT], folder: Path) -> ModelT:
    """The model that `make` gives, its net with the weights of a model's folder, for use and not for training.

    The net is made without numbers first, and compared with what the folder has: settings that ask for another net,
    however large, cost no memory.
    """
    path = folder / WEIGHTS
    with torch.device("meta"), _Undrawn():
        wanted = tensors_of(make().net)
    expect_tensors(read_header(path, remedy=_REMEDY), wanted, where=str(path))
    model = make()
    read_into(model.net, path)
    model.net.eval().requires_grad_(requires_grad=False)
    return model


def write_model(folder: Path, settings: Settings, net: nn.Module, *, files: Iterable[Path] = ()) -> None:
    """Write settings, then weights. What else belongs to the model, `files` in this folder, is there already."""
    make_folder(folder)
    write_file(folder / CONFIG, f"format: {FORMAT}\n{write_yaml(settings)}".encode())
    digests = {path.name: file_digest(path) for path in (folder / CONFIG, *files)}
    write_tensors(folder / WEIGHTS, tensors_of(net), {"files": json.dumps(digests)})
