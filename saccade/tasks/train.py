"""Training from Python: one call from a recipe to a model."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Required, TypedDict, TypeVar, Unpack, overload

from saccade.base.errors import InputError
from saccade.base.model_folder import MODEL
from saccade.base.settings_errors import short
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.kind import Data, kind_of
from saccade.tasks.model import Model, Modules
from saccade.tasks.run import recipe_of_run, start_training
from saccade.training import Callback, Recipe, Reporter, expect_callbacks, make_reporter

ModelT = TypeVar("ModelT", bound=Model[Any, Any])
SettingValue = bool | int | float | str | Path | None | Sequence["SettingValue"] | Mapping[str, "SettingValue"]
SettingsByName = Mapping[str, SettingValue] | Sequence[str]


RecipeSource = str | Path | Recipe[Any, Any] | None


class TrainOptions(TypedDict, total=False):
    """What `train` can be told by name."""

    run: Required[str | Path]
    settings: SettingsByName
    data: Data | None
    callbacks: Sequence[Callback]
    modules: Modules | None
    reporter: Reporter | None


@overload
def train(recipe: RecipeSource = None, model_class: None = None, **how: Unpack[TrainOptions]) -> Model[Any, Any]: ...
@overload
def train(recipe: RecipeSource, model_class: type[ModelT], **how: Unpack[TrainOptions]) -> ModelT: ...
@overload
def train(recipe: None = None, *, model_class: type[ModelT], **how: Unpack[TrainOptions]) -> ModelT: ...
def train(
    recipe: RecipeSource = None,
    model_class: type[Model[Any, Any]] | None = None,
    *,
    run: str | Path,
    settings: SettingsByName = (),
    data: Data | None = None,
    callbacks: Sequence[Callback] = (),
    modules: Modules | None = None,
    reporter: Reporter | None = None,
) -> Model[Any, Any]:
    """Train a model as a recipe says, in the folder `run`, and give it back. One that was broken off there goes on.

    recipe       the name of one of the package (`saccade recipe list`), a file, or a `Recipe`; None: that of the run
    model_class  what the model is, such as `saccade.Translator`: so type checkers know, and another recipe is refused
    settings     in place of the recipe's: {"train.steps": 2000, "model.score": "general"}, or ["train.steps=2000"]
    data         what is learnt from in place of what the recipe names: what its task's `load_data` would give, such as
                 `saccade.tasks.translation.data.Splits(train=[Pair(...), ...], valid=[...])`
    callbacks    are called after each step and each validation, and can end the training
    modules      parts of the model that are your own, such as {"image_encoder": MyEncoder()} of a captioner
    reporter     is told how it goes; without one, there is a bar on the terminal, or lines where there is none
    """
    expect_callbacks(callbacks)
    folder = Path(run)
    assignments = _assignments(settings)
    if isinstance(recipe, Recipe):
        if assignments:
            raise InputError("settings: found some beside a Recipe, wanted them in it, or the recipe's name")
        made = recipe
    else:
        made = recipe_of_run(folder, assignments) if recipe is None else load_recipe(str(recipe), assignments)
    kind = kind_of(made.task, where="the recipe")
    if model_class is not None and not issubclass(kind.model, model_class):
        found, wanted = kind.model.__name__, model_class.__name__
        raise InputError(f"the recipe is of {made.task}, whose model is a {found}, not {wanted}")
    own = recipe is None and not any(one.startswith("data.") for one in assignments)
    start_training(made, folder, reporter or make_reporter(), own=own, data=data, callbacks=callbacks, modules=modules)
    return kind.model.load(folder / MODEL, modules=modules)


def _assignments(settings: SettingsByName) -> list[str]:
    if isinstance(settings, str):
        raise InputError('settings: found one text, wanted a list of them, or a dict such as {"train.steps": 2000}')
    if not isinstance(settings, Mapping):
        return list(settings)
    return [f"{name}={_yaml(name, value)}" for name, value in settings.items()]


def _yaml(name: str, value: SettingValue) -> str:
    """A value as it would be typed behind `key=`: JSON, which is YAML, too."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_as_text)
    except (TypeError, ValueError):
        wanted = "a number, a text, a list, a dict, or None"
        raise InputError(f"settings: {name}: found {short(value)}, wanted {wanted}") from None


def _as_text(value: object) -> str:
    if not isinstance(value, Path):
        raise TypeError(type(value))
    return str(value)
