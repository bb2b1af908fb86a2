"""`saccade summarize`: Summarize texts, a text a line, or JSON lines with a text under a name."""

import argparse
from pathlib import Path

from saccade.console.streams import Line
from saccade.tasks.load import load
from saccade.tasks.translation.model import EncodedSentence, Translator
from saccade.tasks.translation.translate import add_overlong_argument, add_writing_arguments, write_lines
from saccade.text.records import texts_of_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="texts, one a line; - or nothing: a pipe")
    parser.add_argument("--column", metavar="NAME", help="the lines are JSON, with the text under this name: article")
    add_writing_arguments(parser, what="summary")
    add_overlong_argument(parser, usual="truncate")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Summarize what has come."""
    model = load(chosen.model, Translator)
    model.expect_purpose("summarize")

    def encode(line: Line, prefix: str) -> EncodedSentence:
        text = line.text
        if chosen.column is not None and text.strip():
            (text,) = texts_of_json(text, line.where, [chosen.column], remedy="--column says where it stands")
        return model.encode(text, line.where, overlong=chosen.overlong, prefix=prefix)

    return write_lines(chosen, model, encode, doing="summarizing")
