"""`saccade label`: Say which label texts have, a text a line (for images: classify)."""

import argparse
import sys
from collections.abc import Sequence

from saccade.console.lines import add_line_arguments, answer_lines
from saccade.console.parser import count
from saccade.console.streams import Line
from saccade.tasks.load import load
from saccade.tasks.text_classification.model import Read, TextClassifier
from saccade.tasks.text_classification.result import LabelledOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_line_arguments(
        parser,
        what="texts",
        form="one a line, as UTF-8",
        batch_size=64,
        record="with all labels and which words decided",
    )
    parser.add_argument("--top", type=count, default=1, metavar="N", help="the N likeliest labels of each (1)")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Label what comes: a record for each line, `label probability`, the likeliest first."""
    classifier = load(chosen.model, TextClassifier)

    def read(line: Line) -> Read:
        found = classifier.read(line.text, line.where)
        if found.note:
            print(f"saccade: {line.where}: {found.note}", file=sys.stderr)
        return found

    def answer(texts: Sequence[Read]) -> list[LabelledOutput]:
        return classifier.classify_read(texts, attention=chosen.json)

    def record(found: LabelledOutput) -> str | dict[str, object]:
        if chosen.json:
            return found.as_json()
        return "\t".join(f"{name} {share:.3f}" for name, share in list(found.probabilities.items())[: chosen.top])

    return answer_lines(
        chosen, read=read, answer=answer, record=record, empty={"text": "", "label": "", "probabilities": {}}
    )
