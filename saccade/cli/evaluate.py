"""`saccade evaluate`: Run a model on a test set and score the result: translations by BLEU and chrF, captions by BLEU,
ROUGE-L and CIDEr.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import Progress

from saccade.cli.ask import add_story_arguments, evaluate_stories
from saccade.cli.captioned import add_captioned_arguments, evaluate_captions
from saccade.cli.classify import evaluate_classes
from saccade.cli.machine import add_length_arguments, evaluate_machine
from saccade.cli.outputs import expect_outputs
from saccade.cli.pairs import add_pair_arguments, read_pairs
from saccade.cli.parser import count
from saccade.cli.point import add_problem_arguments, evaluate_orders
from saccade.cli.read import evaluate_lines
from saccade.cli.translate import add_overlong_argument, add_search_arguments, search_of
from saccade.errors import InputError
from saccade.files import write_file
from saccade.metrics import LengthScores, Score, score_by_length, score_translations
from saccade.models import Answerer, Captioner, Classifier, LineReader, MemoryMachine, Model, Pointer, Translator, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("--batch", type=count, default=64, metavar="N", help="sentences or images at a time (64)")
    helps = ("the sentences to translate, one a line", "their right translations, one a line")
    add_pair_arguments(parser, second="reference", helps=helps)
    parser.add_argument(
        "--by-length",
        type=int,
        metavar="N",
        help="score short and long sentences apart, too: in steps of N words of source",
    )
    parser.add_argument("--json", action="store_true", help="the figures as one JSON object")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the translations there, too")
    add_overlong_argument(parser)
    add_captioned_arguments(parser)
    add_problem_arguments(parser)
    add_story_arguments(parser)
    add_length_arguments(parser)
    add_search_arguments(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int | None:
    """Find out what the model does, and evaluate that."""
    expect_outputs(others=[chosen.output])
    model = load(chosen.model)
    way = _WAYS[type(model)]
    options = {name for one in _WAYS.values() for name in one.options}
    for name in sorted(options - set(way.options)):
        if getattr(chosen, name) is not None:
            raise InputError(f"--{name.replace('_', '-')}: {chosen.model} {way.does}; wanted {way.wanted}")
    return way.evaluate(chosen, model)


def evaluate_translations(chosen: argparse.Namespace, translator: Translator) -> None:
    """Translate, score, and print each figure with its signature."""
    if chosen.by_length is not None and chosen.by_length < 1:
        raise InputError(f"--by-length: found {chosen.by_length}, wanted at least 1")
    pairs = read_pairs(chosen, second="reference")
    for number, pair in enumerate(pairs, start=1):
        translator.parts(pair.source, f"{chosen.table or chosen.source}, sentence {number}", chosen.overlong)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("translating", total=len(pairs))
        translations = translator.translate(
            [pair.source for pair in pairs],
            overlong=chosen.overlong,
            batch=chosen.batch,
            progress=lambda done: progress.advance(bar, done),
            **search_of(chosen),
        )
    for number, translation in enumerate(translations, start=1):
        if translation.note:
            print(f"saccade: sentence {number}: {translation.note}", file=sys.stderr)
    outputs = [translation.text for translation in translations]
    if chosen.output is not None:
        write_file(chosen.output, "".join(f"{output}\n" for output in outputs).encode())
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    scores = score_translations(outputs, references)
    width = chosen.by_length
    lengths = [] if width is None else score_by_length(sources, outputs, references, width=width)
    (print_json if chosen.json else print_lines)(len(pairs), scores, lengths)


def print_json(sentences: int, scores: dict[str, Score], lengths: list[LengthScores]) -> None:
    figures: dict[str, Any] = {"sentences": sentences} | {name: score._asdict() for name, score in scores.items()}
    if lengths:
        figures["by_length"] = [
            {"words": [fewest, most], "sentences": count} | {name: score.value for name, score in found.items()}
            for fewest, most, count, found in lengths
        ]
    print(json.dumps(figures))


def print_lines(sentences: int, scores: dict[str, Score], lengths: list[LengthScores]) -> None:
    print(f"{sentences} sentences")
    for name, score in scores.items():
        print(f"{name:<10} {score.value:6.2f}  {score.signature}")
    for fewest, most, sentences_here, found in lengths:
        figures = "  ".join(f"{name} {score.value:6.2f}" for name, score in found.items())
        print(f"{fewest:>3} to {most:>3} words: {sentences_here:>5} sentences  {figures}")


class _Way(NamedTuple):
    """How models of one kind are evaluated: by what function, on which options, and both in words."""

    evaluate: Callable[[argparse.Namespace, Any], int | None]
    does: str
    wanted: str
    options: tuple[str, ...]  # those that not all kinds take


_WAYS: dict[type[Model], _Way] = {
    Translator: _Way(
        evaluate_translations,
        "translates",
        "--source and --reference, or --table",
        ("source", "reference", "table", "by_length", "output"),
    ),
    Captioner: _Way(
        evaluate_captions,
        "captions images",
        "--images DIR and --captions FILE",
        ("images", "captions", "only", "output"),
    ),
    Classifier: _Way(evaluate_classes, "classifies images", "--images DIR, with a folder for each class", ("images",)),
    LineReader: _Way(evaluate_lines, "reads lines", "--images DIR and --captions FILE", ("images", "captions")),
    Pointer: _Way(
        evaluate_orders, "points at inputs", "--inputs FILE, or --problems N and --seed N", ("inputs", "problems")
    ),
    MemoryMachine: _Way(evaluate_machine, "learnt an algorithm", "--lengths N,N", ("lengths", "sequences")),
    Answerer: _Way(evaluate_stories, "answers questions", "--stories PATH", ("stories",)),
}
