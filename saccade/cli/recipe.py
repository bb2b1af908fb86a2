"""`saccade recipe`: List, show and copy the recipes of the package."""

import argparse
from pathlib import Path

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.tasks.find_recipe import recipe_names, recipe_summary, recipe_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="COMMAND", required=True)
    actions.add_parser("list", help="say which recipes there are").set_defaults(run=list_recipes)
    show = actions.add_parser("show", help="print a recipe")
    show.add_argument("name", metavar="RECIPE", help="its name, as `saccade recipe list` gives it")
    show.set_defaults(run=show_recipe)
    new = actions.add_parser("new", help="copy a recipe, to make it your own")
    new.add_argument("name", metavar="RECIPE", help="the recipe to begin with")
    new.add_argument("file", type=Path, metavar="FILE", help="where the copy goes, such as mine.yaml")
    new.set_defaults(run=copy_recipe)


def list_recipes(chosen: argparse.Namespace) -> None:
    names = recipe_names()
    for name in names:
        print(f"{name:<{max(map(len, names))}}  {recipe_summary(name)}")


def show_recipe(chosen: argparse.Namespace) -> None:
    print(recipe_text(chosen.name), end="")


def copy_recipe(chosen: argparse.Namespace) -> None:
    if chosen.file.exists():
        raise InputError(f"{chosen.file} stands there already; choose another name")
    write_file(chosen.file, recipe_text(chosen.name).encode())
    print(f"{chosen.file} is yours to change; train it with: saccade train {chosen.file} --run DIR")
