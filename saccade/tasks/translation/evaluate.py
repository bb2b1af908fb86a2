"""`saccade evaluate` of a translator: BLEU, chrF and what is exactly right; ROUGE of summaries, F1 of answers."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.console.options import TakesOptions
from saccade.console.outputs import print_scores
from saccade.console.search import add_search_arguments, search_of
from saccade.metrics import LengthScores, Score, score_by_length, score_translations
from saccade.tasks.kind import Evaluation
from saccade.tasks.translation.data import answerable
from saccade.tasks.translation.model import Translator
from saccade.tasks.translation.pair_options import add_pair_arguments, read_pairs
from saccade.tasks.translation.scores import score_outputs
from saccade.tasks.translation.settings import Purpose
from saccade.tasks.translation.translate import add_overlong_argument
from saccade.text import read_questions


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
    add_overlong_argument(parser, usual=None)
    add_search_arguments(parser)


def evaluate_translations(chosen: argparse.Namespace, translator: Translator) -> None:
    """Translate, score, and print each figure with its signature."""
    if chosen.by_length is not None and chosen.by_length < 1:
        raise InputError(f"--by-length: found {chosen.by_length}, wanted at least 1")
    purpose = translator.settings.purpose
    if chosen.by_length is not None and purpose != "translate":
        raise InputError("--by-length: it is for translations")
    overlong = chosen.overlong or ("split" if purpose == "translate" else "truncate")
    sources, rights = _read(chosen, purpose)
    for number, source in enumerate(sources, start=1):
        translator.tokenize_parts(source, f"{chosen.table or chosen.source}, sentence {number}", overlong)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("writing", total=len(sources))
        translations = translator.translate(
            sources,
            overlong=overlong,
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
    if purpose != "translate":
        tidy = translator.vocabularies.target.tidy  # in lower case, if the model writes nothing else
        scores = score_outputs(purpose, outputs, [[tidy(text) for text in right] for right in rights])
        what = "summaries" if purpose == "summarize" else "answers"
        return print_scores(len(sources), what, scores, as_json=chosen.json)
    references = [right[0] for right in rights]
    width, lowercase = chosen.by_length, translator.vocabularies.target.lowercase
    scores = score_translations(outputs, references, lowercase=lowercase)
    lengths = [] if width is None else score_by_length(sources, outputs, references, width=width, lowercase=lowercase)
    return (print_json if chosen.json else print_lines)(len(sources), scores, lengths)


def _read(chosen: argparse.Namespace, purpose: Purpose) -> tuple[list[str], list[Sequence[str]]]:
    """The sources, and what is right for each."""
    if purpose == "answer":
        if chosen.table is None:
            raise InputError("wanted --table, SQuAD's JSON or JSON lines with questions, passages and answers")
        asked = answerable(
            read_questions(chosen.table), str(chosen.table), lambda text: print(f"saccade: {text}", file=sys.stderr)
        )
        return [one.source for one in asked], [one.answers for one in asked]
    pairs = read_pairs(chosen, second="reference", purpose=purpose)
    return [pair.source for pair in pairs], [[pair.target] for pair in pairs]


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
    print(counted(sentences, "sentence"))
    for name, score in scores.items():
        print(f"{name:<11} {score.value:6.2f}  {score.signature}")
    for min_length, max_length, sentences_here, found in lengths:
        figures = "  ".join(f"{name} {score.value:6.2f}" for name, score in found.items())
        print(f"{min_length:>3} to {max_length:>3} words: {sentences_here:>5} sentences  {figures}")


EVALUATION = Evaluation("--source and --reference, or --table", evaluate_translations, add_options)
