"""`saccade evaluate` of a translator: BLEU, chrF and the share that is exactly right."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.console.options import TakesOptions
from saccade.console.search import add_search_arguments, search_of
from saccade.metrics import LengthScores, Score, score_by_length, score_translations
from saccade.tasks.kind import Evaluation
from saccade.tasks.translation.model import Translator
from saccade.tasks.translation.pair_options import add_pair_arguments, read_pairs
from saccade.tasks.translation.translate import add_overlong_argument


def add_options(parser: TakesOptions) -> None:
    helps = ("the sentences to translate, one a line", "their right translations, one a line")
    add_pair_arguments(parser, second="reference", helps=helps)
    parser.add_argument(
        "--by-length",
        type=int,
        metavar="N",
        help="score short and long sentences apart, too: in steps of N words of source",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the outputs there, too, one a line")
    add_overlong_argument(parser)
    add_search_arguments(parser)


def evaluate_translations(chosen: argparse.Namespace, translator: Translator) -> None:
    """Translate, score, and print each figure with its signature."""
    if chosen.by_length is not None and chosen.by_length < 1:
        raise InputError(f"--by-length: found {chosen.by_length}, wanted at least 1")
    pairs = read_pairs(chosen, second="reference")
    for number, pair in enumerate(pairs, start=1):
        translator.tokenize_parts(pair.source, f"{chosen.table or chosen.source}, sentence {number}", chosen.overlong)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("translating", total=len(pairs))
        translations = translator.translate(
            [pair.source for pair in pairs],
            overlong=chosen.overlong,
            batch_size=chosen.batch_size,
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
            {"words": [min_length, max_length], "sentences": count}
            | {name: score.value for name, score in found.items()}
            for min_length, max_length, count, found in lengths
        ]
    print(json.dumps(figures))


def print_lines(sentences: int, scores: dict[str, Score], lengths: list[LengthScores]) -> None:
    print(f"{sentences} sentences")
    for name, score in scores.items():
        print(f"{name:<11} {score.value:6.2f}  {score.signature}")
    for min_length, max_length, sentences_here, found in lengths:
        figures = "  ".join(f"{name} {score.value:6.2f}" for name, score in found.items())
        print(f"{min_length:>3} to {max_length:>3} words: {sentences_here:>5} sentences  {figures}")


EVALUATION = Evaluation("--source and --reference, or --table", evaluate_translations, add_options)
