"""`saccade classify`: Say which class images are of: files, or all images of a folder (for texts: label)."""

import argparse
import json
import sys
from pathlib import Path

from saccade.base.errors import InputError
from saccade.console.drawing import add_figure_options, expect_files, figures_of, write_figures
from saccade.console.images import Images, show_failure
from saccade.console.outputs import each, tell_failures
from saccade.console.parser import count
from saccade.tasks.classification.look import expect_glimpses, glimpses_of
from saccade.tasks.classification.model import Classifier
from saccade.tasks.classification.result import ClassifierOutput
from saccade.tasks.load import load

_AT_ONCE = 16  # images


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "images", nargs="+", type=Path, metavar="IMAGE", help="image files, or folders of them; - for names on a pipe"
    )
    parser.add_argument("--top", type=count, default=1, metavar="N", help="the N likeliest classes of each (1)")
    parser.add_argument("--json", action="store_true", help="JSON lines, with all classes and the path of the glimpses")
    add_figure_options(parser, of="of one image, its glimpses: ")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """One record for each image. What cannot be read gets a line on stderr and an empty record, and stops nothing."""
    expect_files(chosen)
    figures = figures_of(chosen)
    images = Images(chosen.images)
    images.expect_one(next(iter(figures), None))
    classifier = load(chosen.model, Classifier)
    if figures:
        expect_glimpses(classifier)
    failed = total = 0
    for part in images.chunks(_AT_ONCE):
        total += len(part)
        for path, found in zip(part, each(classifier.classify, part), strict=True):
            if isinstance(found, InputError):
                failed += 1
                show_failure(path, found, as_json=chosen.json)
                continue
            assert isinstance(path, Path)  # what has no name has no class
            _show(path, found, top=chosen.top, as_json=chosen.json)
            if figures:
                write_figures(glimpses_of(path, found, classifier), chosen)
        sys.stdout.flush()
    return tell_failures(failed, total, "images")


def _show(path: Path, found: ClassifierOutput, *, top: int, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"image": str(path)} | found.as_json()))
        return
    print(f"{path}\t" + "\t".join(f"{name} {share:.3f}" for name, share in found.ranking[:top]))
