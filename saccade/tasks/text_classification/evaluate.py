"""`saccade evaluate` of a text classifier: how often it is right, and which labels it takes for which."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.tasks.kind import Evaluation
from saccade.tasks.text_classification.labelled import read_labelled_texts
from saccade.tasks.text_classification.metrics import accuracy, confusion, f1_of_labels, macro_f1
from saccade.tasks.text_classification.model import TextClassifier

_WANTED = "--data FILE, texts with their labels: TSV, CSV or JSON lines"


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--data", type=Path, metavar="FILE", help="texts with their labels: TSV, CSV or JSON lines")
    parser.add_argument("--text-column", default="text", metavar="NAME", help="where the text is (text)")
    parser.add_argument("--label-column", default="label", metavar="NAME", help="where the label is (label)")


def evaluate_labels(chosen: argparse.Namespace, classifier: TextClassifier) -> None:
    """Accuracy, macro F1, and how many texts of each label are taken for each."""
    if chosen.data is None:
        raise InputError(f"{chosen.model} classifies texts; wanted {_WANTED}")
    columns = {"text_column": chosen.text_column, "label_column": chosen.label_column}
    texts = read_labelled_texts(chosen.data, **columns)
    labels = classifier.settings.labels
    for one in texts:
        if one.label not in labels:
            raise InputError(f"{one.where}: {one.label!r} is no label of this model; it knows {', '.join(labels)}")
    read = [classifier.read(one.text, one.where) for one in texts]
    cut = sum(bool(one.cut) for one in read)
    if cut:
        most = classifier.settings.model.max_length - 1
        print(f"saccade: {chosen.data}: {cut:,} texts are longer than {most:,} tokens, and cut off", file=sys.stderr)
    found = classifier.classify([one.text for one in texts], batch_size=chosen.batch_size)
    number = {label: index for index, label in enumerate(labels)}
    wanted, given = [number[one.label] for one in texts], [number[one.label] for one in found]
    table = confusion(wanted, given, labels=len(labels))
    scores = {"accuracy": accuracy(table), "macro_f1": macro_f1(table)}
    if chosen.json:
        print(json.dumps({"texts": len(texts), **scores, "labels": labels, "confusion": table.tolist()}))
        return
    print(f"{counted(len(texts), 'text')}")
    for name, value in scores.items():
        print(f"{name:<10} {value:6.2f}")
    print(f"\n{_as_text(table, labels)}")


def _as_text(table: NDArray[np.int64], labels: Sequence[str]) -> str:
    """A row for each label that texts have, a column for each that they got, and the F1 of each."""
    width = max(len("label"), *map(len, labels))
    columns = [max(len(label), len(str(table[:, index].max()))) for index, label in enumerate(labels)]
    lines = [" ".join([f"{'label':<{width}}", *map(str.rjust, labels, columns), "    F1"])]
    for label, row, f1 in zip(labels, table.tolist(), f1_of_labels(table), strict=True):
        numbers = [f"{number:>{size}}" for number, size in zip(row, columns, strict=True)]
        lines.append(" ".join([f"{label:<{width}}", *numbers, f"{f1:6.2f}"]))
    return "\n".join(lines)


EVALUATION = Evaluation(_WANTED, evaluate_labels, add_options)
