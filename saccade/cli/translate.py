"""`saccade translate`: Translate a file, or what comes in on a pipe, a sentence a line."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from saccade.cli.parser import count, speak_utf8
from saccade.errors import InputError
from saccade.files import decode_lines, read_file, read_lines
from saccade.models import Search, Translation, Translator, load_as
from saccade.precision import PRECISIONS

# Sentences that are translated before their results are printed.
_CHUNK_BATCHES = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="sentences, one a line, as UTF-8; - or nothing: a pipe"
    )
    parser.add_argument("--json", action="store_true", help="JSON lines, with words, attention and alternatives")
    parser.add_argument("--prefixes", type=Path, metavar="FILE", help="what each translation has to begin with")
    parser.add_argument("--batch", type=count, default=64, metavar="N", help="sentences at a time (64)")
    add_search_arguments(parser)
    parser.set_defaults(run=run)


def add_search_arguments(parser: argparse.ArgumentParser, *, what: str = "translation", beam: int = 5) -> None:
    """Add what says how outputs are found."""
    parser.add_argument(
        "--beam", type=count, default=beam, metavar="N", help=f"hypotheses kept; 1 is greedy search ({beam})"
    )
    parser.add_argument("--nbest", type=count, default=1, metavar="N", help=f"how many {what}s of each (1)")
    parser.add_argument("--length-penalty", type=float, default=1.0, metavar="A", help="0 favours short ones (1)")
    parser.add_argument(
        "--coverage-penalty", type=float, default=0.0, metavar="B", help="above 0 favours those that saw everything (0)"
    )
    parser.add_argument("--sampling", action="store_true", help=f"draw {what}s instead of searching the best")
    parser.add_argument("--temperature", type=float, default=1.0, metavar="T", help="below 1: fewer surprises (1)")
    parser.add_argument("--top-k", type=count, metavar="K", help="draw from the K likeliest tokens only")
    parser.add_argument("--top-p", type=float, default=1.0, metavar="P", help="or from those with P of the probability")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws (0)")
    parser.add_argument(
        "--precision", choices=PRECISIONS, default="float32", help="of products; int8 is faster on some processors"
    )


_SEARCH = tuple(Search.__dataclass_fields__)


def search_of(chosen: argparse.Namespace) -> dict[str, Any]:
    """The fields of `Search` that were chosen."""
    return {name: getattr(chosen, name) for name in _SEARCH}


def run(chosen: argparse.Namespace) -> None:
    """Read everything, so that a bad line is found before anything is written; then translate piece by piece."""
    speak_utf8()
    translator = load_as(Translator, chosen.model)
    name = "standard input" if chosen.file == "-" else chosen.file
    content = sys.stdin.buffer.read() if chosen.file == "-" else read_file(Path(chosen.file))
    sentences = decode_lines(content, name)
    if not sentences:
        raise InputError(f"{name} is empty; it needs a sentence a line")
    prefixes = None if chosen.prefixes is None else read_lines(chosen.prefixes)
    if prefixes is not None and len(prefixes) != len(sentences):
        raise InputError(
            f"{chosen.prefixes} has {len(prefixes)} lines, {name} has {len(sentences)}; wanted one for each"
        )
    translate_lines(translator, sentences, prefixes, chosen, name)


def translate_lines(
    translator: Translator, sentences: list[str], prefixes: list[str] | None, chosen: argparse.Namespace, name: str
) -> None:
    for number, sentence in enumerate(sentences, start=1):
        translator.read(sentence, f"{name}, line {number}")
    size = chosen.batch * _CHUNK_BATCHES
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("translating", total=len(sentences))
        for first in range(0, len(sentences), size):
            part = sentences[first : first + size]
            translations = translator.translate(
                part,
                attention=chosen.json,
                prefixes=None if prefixes is None else prefixes[first : first + size],
                batch=chosen.batch,
                progress=lambda done: progress.advance(bar, done),
                **search_of(chosen),
            )
            for sentence, translation in zip(part, translations, strict=True):
                show(sentence, translation, as_json=chosen.json)


def show(sentence: str, translation: Translation, *, as_json: bool) -> None:
    """One line for each sentence; as text, one for each of the n best."""
    if as_json:
        print(json.dumps({"source": sentence} | translation.as_json(), ensure_ascii=False))
        return
    for one in (translation, *translation.alternatives):
        print(f"{one.score:.4f}\t{one.text}" if translation.alternatives else one.text)
