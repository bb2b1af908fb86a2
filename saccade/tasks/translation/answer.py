"""`saccade answer`: Answer a question about a passage, or many of them as JSON lines, in a few words."""

import argparse
from pathlib import Path

from saccade.base.compressed import plain_path
from saccade.base.errors import InputError
from saccade.base.files import decode_lines, read_text_file
from saccade.console.parser import expect_text
from saccade.console.streams import Given, Line
from saccade.tasks.load import load
from saccade.tasks.translation.model import EncodedSentence, Translator
from saccade.tasks.translation.translate import (
    add_overlong_argument,
    add_writing_arguments,
    write_line,
    write_lines,
)
from saccade.text import join_question, read_questions, text_of_question


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="JSON lines, with a question and a passage (or context) in each, or SQuAD's own JSON (*.json); - or"
        " nothing: a pipe. With --question, the passage",
    )
    parser.add_argument("--question", metavar="TEXT", help="answer this one")
    parser.add_argument("--passage", metavar="TEXT", help="from this passage, and not from that of FILE")
    add_writing_arguments(parser, what="answer")
    add_overlong_argument(parser, usual="truncate")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Answer what was asked, or all that has come."""
    one = _question(chosen)
    model = load(chosen.model, Translator)
    model.expect_purpose("answer")
    if one is not None:
        return write_line(chosen, model, Line(1, "the question", one))

    squad = _of_squad(Path(chosen.file))

    def encode(line: Line, prefix: str) -> EncodedSentence:
        source = text_of_question(line.text, line.where) if squad is None and line.text.strip() else line.text
        return model.encode(source, line.where, overlong=chosen.overlong, prefix=prefix)

    return write_lines(chosen, model, encode, doing="answering", given=squad)


def _of_squad(path: Path) -> Given | None:
    """The questions of a file in SQuAD's form, which is no form of lines."""
    if plain_path(path).suffix != ".json":
        return None
    questions = enumerate(read_questions(path), start=1)
    return Given(str(path), [(f"{path}, question {number}", question.source) for number, question in questions])


def _question(chosen: argparse.Namespace) -> str | None:
    """The one question that was typed, with its passage."""
    if chosen.question is None:
        if chosen.passage is not None:
            raise InputError("--passage: found no --question to answer from it")
        return None
    for name in ("question", "passage"):
        if getattr(chosen, name) is not None:
            expect_text(getattr(chosen, name), f"--{name}")
    if chosen.passage is None and chosen.file == "-":
        raise InputError("--question: found no passage; name a file with one, or give --passage TEXT")
    passage = chosen.passage
    if passage is None:
        passage = " ".join(decode_lines(read_text_file(Path(chosen.file)), chosen.file))
    return join_question(chosen.question, passage)
