"""`saccade evaluate`: Run a model on a test set and score the result, with the figures that are usual for its task."""

import argparse
from pathlib import Path

from saccade.console.options import SharedOptions
from saccade.console.outputs import expect_outputs
from saccade.console.parser import count
from saccade.tasks.kind import all_kinds
from saccade.tasks.load import kind_of_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("--batch-size", type=count, default=64, metavar="N", help="inputs at a time (64)")
    parser.add_argument("--json", action="store_true", help="the figures as one JSON object")
    options = SharedOptions(parser)
    for kind in all_kinds():
        kind.evaluate.add_options(options.of(kind.name, f"of a model that {kind.does}: {kind.evaluate.wanted}"))
    parser.set_defaults(run=run, options=options)


def run(chosen: argparse.Namespace) -> int | None:
    """Find out what the model does, and evaluate that."""
    expect_outputs(others=[chosen.output])
    kind = kind_of_folder(chosen.model)
    options: SharedOptions = chosen.options
    why = f"{chosen.model} is a model that {kind.does}; wanted {kind.evaluate.wanted}"
    options.refuse_others(chosen, kind.name, why)
    return kind.evaluate.run(chosen, kind.model.load(chosen.model))
