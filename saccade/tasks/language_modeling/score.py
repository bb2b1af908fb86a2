"""`saccade score`: Say how well a text was foreseen: as a whole, and with --json token by token."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from saccade.metrics import score_text
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.load import load
from saccade.text.documents import Corpus, read_corpus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("file", type=Path, metavar="FILE", help="a text, a folder of them, or JSON lines (*.jsonl)")
    parser.add_argument("--column", default="text", metavar="NAME", help="of JSON lines: where the text is (text)")
    parser.add_argument("--json", action="store_true", help="JSON lines, one a document, with each token")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Score each document by itself; without --json, what all of them come to."""
    corpus = read_corpus(chosen.file, column=chosen.column, tell=_tell)
    model = load(chosen.model, LanguageModel)
    log_prob, tokens, characters, utf8_bytes = 0.0, 0, 0, 0
    for number, text in enumerate(_documents(corpus), start=1):
        read = model.read(text, f"{chosen.file}, document {number}")
        if read.note:
            _tell(f"{chosen.file}, document {number}: {read.note}")
        (found,) = model.score_read([read])
        if chosen.json:
            print(json.dumps(found.as_json(), ensure_ascii=False))
        log_prob += found.log_prob
        tokens += len(found.tokens)
        characters += len(text)
        utf8_bytes += len(text.encode())
    if chosen.json:
        return
    figures = score_text(log_prob, tokens=tokens, characters=characters, utf8_bytes=utf8_bytes)
    print(f"{tokens:,} tokens, {characters:,} characters, log probability {log_prob:,.2f}")
    for name, value in figures._asdict().items():
        print(f"{name.replace('_', ' '):<18} {value:9.4f}")


def _documents(corpus: Corpus) -> Iterator[str]:
    parts: list[str] = []
    for piece in corpus.pieces():
        parts.append(piece.text)
        if piece.ends:
            yield "".join(parts)
            parts = []


def _tell(text: str) -> None:
    print(f"saccade: {text}", file=sys.stderr)
