"""`saccade evaluate` of a classifier: how often it is right, in all and by class."""

import argparse
import json
import sys
from pathlib import Path

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.console.outputs import tell_failures
from saccade.tasks.classification.model import Classifier
from saccade.tasks.kind import Evaluation
from saccade.vision import read_labelled


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--images", type=Path, metavar="DIR", help="a folder for each class, or MNIST's images")


def evaluate_classes(chosen: argparse.Namespace, classifier: Classifier) -> int:
    """How often the classifier is right, in all and for each class."""
    if chosen.images is None:
        raise InputError(f"{chosen.model} classifies images; wanted --images DIR, with a folder for each class")
    labelled, bad = read_labelled(chosen.images, side=classifier.settings.model.image_size)
    for line in bad:
        print(f"saccade: {line}", file=sys.stderr)
    strange = [name for name in labelled.classes if name not in classifier.settings.classes]
    if strange:
        known = ", ".join(classifier.settings.classes)
        raise InputError(f"{chosen.images}: {strange[0]} is no class of this model; it knows {known}")
    right = dict.fromkeys(labelled.classes, 0)
    total = dict.fromkeys(labelled.classes, 0)
    for first in range(0, len(labelled.labels), chosen.batch_size):
        part = slice(first, first + chosen.batch_size)
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
        print(f"{counted(sum(total.values()), 'image')}\naccuracy   {accuracy:6.2f}")
        for name, share in by_class.items():
            print(f"  {name:<12} {share:6.2f}  of {total[name]}")
    return tell_failures(len(bad), len(bad) + sum(total.values()), "images")


EVALUATION = Evaluation("--images DIR, with a folder for each class", evaluate_classes, add_options)
