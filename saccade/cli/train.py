"""`saccade train`: Train a model as a recipe says, or go on with a training that was broken off."""

import argparse
from pathlib import Path

from saccade.tasks import load_recipe, recipe_of_run, start_training
from saccade.train import make_reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "recipe",
        nargs="?",
        metavar="RECIPE",
        help="a recipe of the package (see `saccade recipe list`) or a file; without it, that of the folder goes on",
    )
    parser.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="settings in place of the recipe's, such as train.steps=2000 model.score=general",
    )
    parser.add_argument(
        "--run",
        dest="folder",
        type=Path,
        required=True,
        metavar="DIR",
        help="where everything goes; the finished model is DIR/model. If a training was broken off there, it goes on",
    )
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Train, and say how good the model is and what can be done with it."""
    if chosen.recipe is not None and "=" in chosen.recipe:  # `saccade train train.steps=9 --run DIR`
        chosen.settings.insert(0, chosen.recipe)
        chosen.recipe = None
    if chosen.recipe is None and not chosen.settings:
        recipe = recipe_of_run(chosen.folder)
    else:
        recipe = load_recipe(chosen.recipe or str(chosen.folder / "recipe.yaml"), chosen.settings)
    start_training(recipe, chosen.folder, make_reporter())
    print(f"{chosen.folder / 'model'} is finished; use it with: saccade translate {chosen.folder / 'model'} FILE")
