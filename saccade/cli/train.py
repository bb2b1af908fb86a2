"""`saccade train`: Train a model as a recipe says, or go on with a training that was broken off."""

import argparse
from pathlib import Path

from saccade.base.errors import InputError
from saccade.base.model_folder import MODEL
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.kind import kind_of
from saccade.tasks.run import recipe_of_run, start_training
from saccade.training import make_reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="*",
        metavar="RECIPE key=value",
        help="a recipe of the package (see `saccade recipe list`) or a file; without it, that of DIR goes on."
        " Then settings in place of the recipe's, such as train.steps=2000 model.score=general, or"
        " train.start_from=MODEL to begin with another model's weights",
    )
    parser.add_argument(
        "--run",
        dest="folder",
        required=True,
        metavar="DIR",
        help="where everything goes; the finished model is DIR/model. If a training was broken off there, it goes on",
    )
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Train, and say how good the model is and what can be done with it."""
    names = [word for word in chosen.what if "=" not in word]
    settings = [word for word in chosen.what if "=" in word]
    if len(names) > 1:
        raise InputError(f"found {', '.join(names)}, wanted one recipe; settings are written key=value")
    if not chosen.folder:
        raise InputError("--run: found nothing, wanted a folder, such as runs/mine")
    folder = Path(chosen.folder)
    recipe = load_recipe(names[0], settings) if names else recipe_of_run(folder, settings)
    own = not names and not any(setting.startswith("data.") for setting in settings)
    start_training(recipe, folder, make_reporter(), own=own)
    model = folder / MODEL
    use = kind_of(recipe.task, where=str(folder)).use.format(model=model, settings=recipe)
    print(f"{model} is finished; use it with: {use}")
