"""`saccade evaluate` of a language model: how well it foresees a text that it does not know."""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.metrics import TextScore, score_text
from saccade.tasks.kind import Evaluation
from saccade.tasks.language_modeling.data import read_tokens
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.language_modeling.scoring import score_tokens
from saccade.text import UNKNOWN
from saccade.text.documents import read_corpus

_WANTED = "--data PATH, a text, a folder of them, or JSON lines"


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--data", type=Path, metavar="PATH", help="a text, a folder of them, or JSON lines (*.jsonl)")
    parser.add_argument("--column", metavar="NAME", help="of JSON lines: where the text is (text)")


def evaluate_text(chosen: argparse.Namespace, model: LanguageModel) -> None:
    """Perplexity and bits, in windows by themselves and in sliding ones; the ends of documents are foreseen, too."""
    if chosen.data is None:
        raise InputError(f"{chosen.model} writes text; wanted {_WANTED}")
    corpus = read_corpus(chosen.data, column=chosen.column or "text", tell=_tell)
    tokens = read_tokens(corpus, model.vocabulary)
    unknown = int((tokens == UNKNOWN).sum())
    if unknown:
        _tell(f"{chosen.data}: {unknown:,} of {len(tokens):,} tokens are not in the vocabulary")
    size = {"tokens": len(tokens), "characters": len(corpus)}
    utf8_bytes = sum(len(piece.text.encode()) for piece in corpus.pieces())
    found: dict[str, TextScore] = {}
    console = Console(stderr=True)
    with model.running(), Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("scoring", total=2 * len(tokens))
        for name, sliding in (("windows", False), ("sliding", True)):
            (log_probs,) = score_tokens(
                model.net,
                [tokens],
                context=model.context,
                sliding=sliding,
                batch_size=chosen.batch_size,
                progress=lambda done: progress.advance(bar, done),
            )
            total = float(log_probs.sum(dtype=np.float64))
            found[name] = score_text(total, **size, utf8_bytes=utf8_bytes)
    if chosen.json:
        print(json.dumps(size | {"utf8_bytes": utf8_bytes} | {name: one._asdict() for name, one in found.items()}))
        return
    print(f"{len(tokens):,} tokens, {len(corpus):,} characters; a context of {model.context:,}")
    print(f"{'':<18} {'windows':>9} {'sliding':>9}")
    for name in TextScore._fields:
        values = " ".join(f"{getattr(one, name):9.4f}" for one in found.values())
        print(f"{name.replace('_', ' '):<18} {values}")


def _tell(text: str) -> None:
    print(f"saccade: {text}", file=sys.stderr)


EVALUATION = Evaluation(_WANTED, evaluate_text, add_options)
