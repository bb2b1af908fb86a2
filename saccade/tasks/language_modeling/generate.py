"""`saccade generate`: Write on from a prompt, token by token."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from saccade.base.errors import InputError
from saccade.console.parser import count, expect_text
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.language_modeling.result import Generated
from saccade.tasks.language_modeling.writing import Writing
from saccade.tasks.load import load
from saccade.text import END, SPECIAL

_BETWEEN = "---"  # samples


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("prompt", nargs="?", default="", metavar="PROMPT", help="what the text begins with (nothing)")
    parser.add_argument("--tokens", type=count, default=100, metavar="N", help="how many are written, at most (100)")
    parser.add_argument(
        "--temperature", type=float, default=1.0, metavar="T", help="below 1: fewer surprises; 0: none at all (1)"
    )
    parser.add_argument("--top-k", type=count, metavar="K", help="draw from the K likeliest tokens only")
    parser.add_argument("--top-p", type=float, default=1.0, metavar="P", help="or from those with P of the probability")
    parser.add_argument("--samples", type=count, default=1, metavar="S", help="how many texts (1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws (0)")
    parser.add_argument("--stream", action="store_true", help="show the text as it is written")
    parser.add_argument("--json", action="store_true", help="one JSON object, with tokens and attention")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Write on from the prompt; prompt and text are printed, of several samples with a line between them."""
    expect_text(chosen.prompt, "PROMPT")
    how: dict[str, Any] = {name: getattr(chosen, name) for name in Writing.__dataclass_fields__}
    Writing(**how)  # what is wrong is said before a model is read
    if chosen.stream and (chosen.json or chosen.samples > 1):
        other = "--json" if chosen.json else "--samples"
        raise InputError(f"--stream: found {other} beside it, wanted one of the two; one text alone can be streamed")
    model = load(chosen.model, LanguageModel)
    if chosen.stream:
        _show(chosen.prompt)
        found = model.stream(chosen.prompt, _show, **how)
        _show("\n")
    else:
        (found,) = model.generate([chosen.prompt], attention=chosen.json, **how)
        _print(found, as_json=chosen.json)
    if found.note:
        print(f"saccade: {found.note}", file=sys.stderr)
    if found.tokens[-1:] == [SPECIAL[END]]:
        short = f"the model ended the text after {len(found.tokens):,} of {chosen.tokens:,} tokens"
        print(f"saccade: {short}, as texts end that it learnt from", file=sys.stderr)


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _print(found: Generated, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found.as_json(), ensure_ascii=False))
        return
    samples = [found, *found.alternatives]
    print(f"\n{_BETWEEN}\n".join(one.prompt + one.text for one in samples))
