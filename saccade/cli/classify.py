"""`saccade classify`: Say which class images are of: files, or all images of a folder."""

import argparse
import json
import sys
from pathlib import Path

from saccade.cli.captioned import Images, show_failure
from saccade.cli.outputs import each, expect_outputs, tell_failures
from saccade.cli.parser import count
from saccade.data import picture_for_pages, read_labelled
from saccade.errors import InputError
from saccade.look import save_path
from saccade.models import Classified, Classifier, load_as

_AT_ONCE = 16  # images


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "images", nargs="+", type=Path, metavar="IMAGE", help="image files, or folders of them; - for names on a pipe"
    )
    parser.add_argument("--top", type=count, default=1, metavar="N", help="the N likeliest classes of each (1)")
    parser.add_argument("--json", action="store_true", help="JSON lines, with all classes and the path of the glimpses")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="of one image, its glimpses: PNG, SVG or PDF")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """One record for each image. What cannot be read gets a line on stderr and an empty record, and stops nothing."""
    expect_outputs(figures=[chosen.figure])
    images = Images(chosen.images)
    images.expect_one(chosen.figure)
    classifier = load_as(Classifier, chosen.model)
    if chosen.figure is not None and classifier.settings.model.kind != "glimpses":
        raise InputError("--figure: this model sees everything at once; only one that sees by glimpses has a path")
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
            if chosen.figure is not None:
                _draw(chosen.figure, path, found, classifier)
        sys.stdout.flush()
    return tell_failures(failed, total, "images")


def _show(path: Path, found: Classified, *, top: int, as_json: bool) -> None:
    if as_json:
        shares = {name: round(share, 6) for name, share in found.ranking}
        places = None if found.path is None else found.path.astype(float).round(4).tolist()
        print(json.dumps({"image": str(path), "label": found.label, "classes": shares, "path": places}))
        return
    print(f"{path}\t" + "\t".join(f"{name} {share:.3f}" for name, share in found.ranking[:top]))


def _draw(figure: Path, path: Path, found: Classified, classifier: Classifier) -> None:
    model = classifier.settings.model
    assert found.path is not None  # as was made sure of before the work
    assert model.kind == "glimpses"
    save_path(figure, picture_for_pages(path), found.path, size=model.patch / model.image_side, title=found.label)
    print(f"written: {figure}", file=sys.stderr)


def evaluate_classes(chosen: argparse.Namespace, classifier: Classifier) -> int:
    """How often the classifier is right, in all and for each class."""
    if chosen.images is None:
        raise InputError(f"{chosen.model} classifies images; wanted --images DIR, with a folder for each class")
    labelled, bad = read_labelled(chosen.images, side=classifier.settings.model.image_side)
    for line in bad:
        print(f"saccade: {line}", file=sys.stderr)
    strange = [name for name in labelled.classes if name not in classifier.settings.classes]
    if strange:
        known = ", ".join(classifier.settings.classes)
        raise InputError(f"{chosen.images}: {strange[0]} is no class of this model; it knows {known}")
    right = dict.fromkeys(labelled.classes, 0)
    total = dict.fromkeys(labelled.classes, 0)
    for first in range(0, len(labelled.labels), chosen.batch):
        part = slice(first, first + chosen.batch)
        for label, found in zip(
            labelled.labels[part], classifier.classify_pixels(list(labelled.pixels[part])), strict=True
        ):
            total[labelled.classes[label]] += 1
            right[labelled.classes[label]] += found.label == labelled.classes[label]
    accuracy = 100 * sum(right.values()) / sum(total.values())
    by_class = {name: 100 * right[name] / count for name, count in total.items() if count}
    if chosen.json:
        print(json.dumps({"images": sum(total.values()), "accuracy": accuracy, "classes": by_class}))
    else:
        print(f"{sum(total.values())} images\naccuracy   {accuracy:6.2f}")
        for name, share in by_class.items():
            print(f"  {name:<12} {share:6.2f}  of {total[name]}")
    return tell_failures(len(bad), len(bad) + sum(total.values()), "images")
