"""From a folder to its model, whatever its task."""

from pathlib import Path
from typing import Any, TypeVar, overload

from saccade.base.errors import InputError
from saccade.base.model_folder import CONFIG, model_folder, read_config, read_settings
from saccade.base.settings_errors import short
from saccade.tasks.kind import AnyKind, kind_of
from saccade.tasks.model import Model, Modules

ModelT = TypeVar("ModelT", bound=Model[Any, Any])


@overload
def load(folder: str | Path, *, modules: Modules | None = None) -> Model[Any, Any]: ...
@overload
def load(folder: str | Path, model_class: type[ModelT], *, modules: Modules | None = None) -> ModelT: ...
def load(
    folder: str | Path, model_class: type[Model[Any, Any]] | None = None, *, modules: Modules | None = None
) -> Model[Any, Any]:
    """The model of a folder, as `saccade train` writes it; of a run's folder, the best that it has so far.

    With a `model_class`, such as `Translator`, type checkers know what it is, and another model is refused.

    saccade.load("run/model", Translator).translate(["..."])

    modules  parts of the model that are your own, as they were handed to `train`: {"image_encoder": MyEncoder()}
    """
    if not isinstance(folder, str | Path):
        raise InputError(f"folder: found {short(folder)}, wanted the path of a model's folder, or of a run's")
    if model_class is not None and not (isinstance(model_class, type) and issubclass(model_class, Model)):
        raise InputError(f"model_class: found {short(model_class)}, wanted a class, such as saccade.Translator")
    kind = kind_of_folder(folder)
    if model_class is not None and not issubclass(kind.model, model_class):
        settings = read_settings(kind.model.config, model_folder(Path(folder)))
        raise InputError(
            f"{folder} is a {kind.model.__name__}, a model that {kind.does}; wanted a {model_class.__name__};"
            f" use it with: {kind.use.format(model=folder, settings=settings)}"
        )
    return kind.model.load(folder, modules=modules)


def kind_of_folder(folder: str | Path) -> AnyKind:
    """The task of a model's folder."""
    where = model_folder(Path(folder))
    return kind_of(read_config(where).get("task"), where=str(where / CONFIG))
