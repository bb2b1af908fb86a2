"""`saccade evaluate` of a language model: how well it foresees a text that it does not know."""

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import Progress

from saccade.base.errors import InputError
from saccade.console.options import TakesOptions
from saccade.metrics import TextScore, score_text
from saccade.tasks.kind import Evaluation
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.language_modeling.scoring import score_stream
from saccade.text.corpus_tokens import corpus_tokens
from saccade.text.documents import read_corpus
from saccade.text.token_arrays import TokenArrays

_WANTED = "--data PATH, a text, a folder of them, or JSON lines"


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--data", type=Path, metavar="PATH", help="a text, a folder of them, or JSON lines (*.jsonl)")
    parser.add_argument("--column", metavar="NAME", help="of JSON lines: where the text is (text)")


def evaluate_text(chosen: argparse.Namespace, model: LanguageModel) -> None:
    """Perplexity and bits, in windows by themselves and in sliding ones; the ends of documents are foreseen, too."""
    if chosen.data is None:
        raise InputError(f"{chosen.model} writes text; wanted {_WANTED}")
    corpus = read_corpus(chosen.data, column=chosen.column or "text", tell=_tell)
    with TemporaryDirectory(prefix="saccade-") as folder:
        arrays = corpus_tokens(corpus, model.vocabulary, Path(folder))
        found = {name: _score(model, arrays, chosen, sliding=name == "sliding") for name in ("windows", "sliding")}
    counts = arrays.counts
    tokens = counts.tokens - counts.documents  # their starts are not foreseen
    if counts.unknown:
        _tell(f"{chosen.data}: {counts.unknown:,} of {tokens:,} tokens are not in the vocabulary")
    if chosen.json:
        size = {"tokens": tokens, "characters": counts.characters, "utf8_bytes": counts.utf8_bytes}
        print(json.dumps(size | {name: one._asdict() for name, one in found.items()}))
        return
    print(f"{tokens:,} tokens, {counts.characters:,} characters; a context of {model.context:,}")
    print(f"{'':<18} {'windows':>9} {'sliding':>9}")
    for name in TextScore._fields:
        values = " ".join(f"{getattr(one, name):9.4f}" for one in found.values())
        print(f"{name.replace('_', ' '):<18} {values}")


def _score(model: LanguageModel, arrays: TokenArrays, chosen: argparse.Namespace, *, sliding: bool) -> TextScore:
    console, log_prob, tokens = Console(stderr=True), 0.0, 0
    how = {"context": model.context, "sliding": sliding, "batch_size": chosen.batch_size}
    with model.running(), Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("in sliding windows" if sliding else "in windows", total=arrays.counts.tokens)
        for score in score_stream(model.net, arrays.tokens, **how):
            log_prob, tokens = log_prob + score.log_prob, tokens + score.tokens
            progress.advance(bar, score.tokens)
            arrays.forget()
    return score_text(log_prob, tokens=tokens, characters=arrays.counts.characters, utf8_bytes=arrays.counts.utf8_bytes)


def _tell(text: str) -> None:
    print(f"saccade: {text}", file=sys.stderr)


EVALUATION = Evaluation(_WANTED, evaluate_text, add_options)
