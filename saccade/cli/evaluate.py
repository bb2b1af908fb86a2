"""`saccade evaluate`: Run a model on a test set and score the result: translations by BLEU and chrF, captions by BLEU,
ROUGE-L and CIDEr.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from saccade.cli.ask import add_story_arguments, evaluate_stories
from saccade.cli.captioned import add_captioned_arguments, evaluate_captions
from saccade.cli.classify import evaluate_classes
from saccade.cli.machine import add_length_arguments, evaluate_machine
from saccade.cli.pairs import add_pair_arguments, read_pairs
from saccade.cli.parser import count, speak_utf8
from saccade.cli.point import add_problem_arguments, evaluate_orders
from saccade.cli.read import evaluate_lines
from saccade.cli.translate import add_search_arguments, search_of
from saccade.errors import InputError
from saccade.files import write_file
from saccade.metrics import LengthScores, Score, score_by_length, score_translations
from saccade.models import Answerer, Captioner, Classifier, LineReader, MemoryMachine, Pointer, Translator, load


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
    add_captioned_arguments(parser)
    add_problem_arguments(parser)
    add_story_arguments(parser)
    add_length_arguments(parser)
    add_search_arguments(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Find out what the model does, and evaluate that."""
    speak_utf8()
    model = load(chosen.model)
    if isinstance(model, Pointer):
        evaluate_orders(chosen, model)
    elif chosen.inputs is not None or chosen.problems is not None:
        raise InputError(f"{chosen.model} does not point at inputs; --inputs and --problems are for models that do")
    elif isinstance(model, Captioner):
        evaluate_captions(chosen, model)
    elif isinstance(model, Classifier):
        evaluate_classes(chosen, model)
    elif isinstance(model, LineReader):
        evaluate_lines(chosen, model)
    elif isinstance(model, MemoryMachine):
        evaluate_machine(chosen, model)
    elif isinstance(model, Answerer):
        evaluate_stories(chosen, model)
    else:
        evaluate_translations(chosen, model)


def evaluate_translations(chosen: argparse.Namespace, translator: Translator) -> None:
    """Translate, score, and print each figure with its signature."""
    if chosen.images is not None or chosen.captions is not None:
        raise InputError(f"{chosen.model} translates; wanted --source and --reference, not --images and --captions")
    if chosen.by_length is not None and chosen.by_length < 1:
        raise InputError(f"--by-length: found {chosen.by_length}, wanted at least 1")
    pairs = read_pairs(chosen, second="reference")
    for number, pair in enumerate(pairs, start=1):
        translator.read(pair.source, f"{chosen.table or chosen.source}, sentence {number}")
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("translating", total=len(pairs))
        translations = translator.translate(
            [pair.source for pair in pairs],
            batch=chosen.batch,
            progress=lambda done: progress.advance(bar, done),
            **search_of(chosen),
        )
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
