"""`saccade train`: Train a model as a recipe says, or go on with a training that was broken off."""

import argparse
import sys
from pathlib import Path

from saccade.errors import InputError
from saccade.models import USES
from saccade.tasks import load_recipe, recipe_of_run, start_training
from saccade.train import make_reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="*",
        metavar="RECIPE key=value",
        help="a recipe of the package (see `saccade recipe list`) or a file; without it, that of DIR goes on."
        " Then settings in place of the recipe's, such as train.steps=2000 model.score=general",
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
    names = [word for word in chosen.what if "=" not in word]
    settings = [word for word in chosen.what if "=" in word]
    if len(names) > 1:
        raise InputError(f"found {', '.join(names)}, wanted one recipe; settings are written key=value")
    recipe = load_recipe(names[0], settings) if names else recipe_of_run(chosen.folder, settings)
    try:
        start_training(recipe, chosen.folder, make_reporter())
    except KeyboardInterrupt:
        print(f"stopped; to go on: saccade train --run {chosen.folder}", file=sys.stderr)
        raise
    model = chosen.folder / "model"
    print(f"{model} is finished; use it with: {USES[recipe.task].format(model=model)}")
