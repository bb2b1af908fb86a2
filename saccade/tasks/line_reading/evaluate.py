"""`saccade evaluate` of a reader of lines: lines without a mistake, and wrong letters."""

import argparse
import sys
from pathlib import Path

from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.console.outputs import print_scores, tell_failures
from saccade.metrics import edit_distance
from saccade.tasks.kind import Evaluation
from saccade.tasks.line_reading.model import LineReader
from saccade.vision import read_captions


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--images", type=Path, metavar="DIR", help="the folder of the strips")
    parser.add_argument("--captions", type=Path, metavar="FILE", help="and their texts")


def evaluate_lines(chosen: argparse.Namespace, reader: LineReader) -> int:
    """How many lines are read without a mistake, and how many letters are wrong for each that there is."""
    if chosen.images is None or chosen.captions is None:
        raise InputError(f"{chosen.model} reads lines; wanted --images DIR and --captions FILE, the texts")
    right, wrong, letters, lines = 0, 0, 0, 0
    known = read_captions(chosen.captions)
    for one in known:
        try:
            (found,) = reader.read([chosen.images / one.image])
        except InputError as error:
            print(f"saccade: {error}", file=sys.stderr)
            continue
        text = one.captions[0]
        lines += 1
        right += found.text == text
        wrong += edit_distance(found.text, text)
        letters += len(text)
    if not lines:
        raise InputError(f"{chosen.images}: none of the images could be read")
    scores = {"exact_match": 100 * right / lines, "letter_errors": 100 * wrong / max(letters, 1)}
    print_scores(lines, "lines", scores, as_json=chosen.json)
    return tell_failures(len(known) - lines, len(known), "images")


EVALUATION = Evaluation("--images DIR and --captions FILE", evaluate_lines, add_options)
