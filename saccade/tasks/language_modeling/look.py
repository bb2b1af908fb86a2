"""`saccade look` of a language model: how surprising each token of a text was, and what it was foreseen from."""

import argparse
import contextlib
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from saccade.base.errors import InputError
from saccade.console.drawing import Maps, add_map_options, check_map_options, figures_of, maps_as_chosen
from saccade.console.inputs import model_name, one_text
from saccade.console.options import TakesOptions
from saccade.look import PLACES, HeadMeasures, Panel
from saccade.tasks.kind import Look
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.text.documents import read_corpus

_MOST_CHARACTERS = 1_000_000  # of a file
_LONGEST_NAME = 80  # characters of a text in a title


def add_options(parser: TakesOptions) -> None:
    parser.add_argument("--file", type=Path, metavar="FILE", help="read this text instead of one that is typed")
    parser.add_argument("--surprise", action="store_true", help="show the text and its surprise alone, and no map")
    parser.add_argument("--heads", action="store_true", help="say which head looks back to what, as a table")
    places = f"the map of the head that looks at such places farthest above chance: {', '.join(PLACES)}"
    parser.add_argument("--best", choices=PLACES, metavar="PLACE", help=places)
    add_map_options(parser)


def check(chosen: argparse.Namespace) -> None:
    if chosen.file is None:
        one_text(chosen.inputs, "TEXT", "text to read, or --file FILE")
    elif chosen.inputs:
        raise InputError("--file: found a text beside it, wanted one of the two")
    for one, other in (("surprise", "heads"), ("surprise", "best"), ("heads", "best"), ("best", "layer")):
        _refuse_both(chosen, one, other)
    for name in ("kind", "layer", "head", "grid"):
        _refuse_both(chosen, "surprise", name)
    _refuse_both(chosen, "best", "head")
    if chosen.heads and figures_of(chosen):
        raise InputError("--heads: it is a table, and no figure; --best PLACE takes the map of one of the heads")
    check_map_options(chosen)


def _refuse_both(chosen: argparse.Namespace, one: str, other: str) -> None:
    if getattr(chosen, one) and getattr(chosen, other):
        raise InputError(f"--{one}: found --{other} beside it, wanted one of the two")


@dataclass(frozen=True, kw_only=True)
class HeadTable(Maps):
    """Maps, but in the terminal and as JSON there are the measures of the heads."""

    def show(self) -> None:
        for panel in self.panels:
            assert panel.heads is not None
            print(f"{panel.title}\n\n{table_of(panel.heads)}")

    def as_json(self) -> dict[str, Any]:
        heads = self.panels[0].heads
        return super().as_json() if len(self.panels) > 1 or heads is None else heads.record()


def look_at_text(chosen: argparse.Namespace, model: LanguageModel) -> Maps:
    """Read a text."""
    text = _read_file(chosen.file) if chosen.file is not None else chosen.inputs[0]
    attention = model.looks and not chosen.surprise
    (found,) = model.score([text], attention=attention)
    if found.note:
        print(f"saccade: {found.note}", file=sys.stderr)
    name = _shortened(text)
    title = f"{model_name(chosen.model)}: {name} ({found.bits_per_character:.2f} bits per character)"
    panel = Panel(title, model.maps(found, name=name) if attention else [], surprise=model.surprise(found))
    if not attention:
        for option in ("kind", "layer", "head", "grid", "heads", "best"):
            if getattr(chosen, option):
                raise InputError(f"--{option}: {chosen.model} looks at nothing; there is its surprise alone to see")
        return Maps([panel], name, title=chosen.title)
    if chosen.heads or chosen.best:
        panel = replace(panel, heads=model.measure_heads([text]))
    elif chosen.html is not None:
        with contextlib.suppress(InputError):  # a text that is too short for it has a page all the same
            panel = replace(panel, heads=model.measure_heads([text]))
    if chosen.best and panel.heads is not None:
        layer, head = panel.heads.of(chosen.best).best
        chosen = argparse.Namespace(**{**vars(chosen), "layer": layer + 1, "head": head + 1})
    maps = maps_as_chosen(panel, chosen, name=name)
    return HeadTable(maps.panels, name) if chosen.heads else maps


def table_of(heads: HeadMeasures) -> str:
    """The best head for each place that is looked back to, and how far and widely heads look."""
    lines = [f"{'place':<12} {'layer':>5} {'head':>5} {'share':>6} {'chance':>6} {'ratio':>6} {'tokens':>7}"]
    for one in heads.best():
        figures = f"{one['share']:6.3f} {one['chance']:6.3f} {one['ratio']:6.2f} {one['tokens']:7,}"
        lines.append(f"{one['measure']:<12} {one['layer']:5} {one['head']:5} {figures}")
    lines.append("")
    for name, values, even in (
        ("tokens back, in the mean", heads.distance, heads.even_distance),
        ("entropy, in bits", heads.entropy, heads.even_entropy),
    ):
        ends = [np.unravel_index(pick(values), values.shape) for pick in (np.argmin, np.argmax)]
        least, most = (f"{values[at]:.2f} (layer {at[0] + 1}, head {at[1] + 1})" for at in ends)
        lines.append(f"{name}: {least} to {most}; everywhere alike: {even:.2f}")
    lines += [
        "",
        "share   of the attention, on such a place, in the mean over the tokens that have one",
        "chance  itself, previous, first: if it looked everywhere alike; others: if it only knew how far back they are",
    ]
    return "\n".join(lines)


def _read_file(path: Path) -> str:
    corpus = read_corpus(path)
    if len(corpus) > _MOST_CHARACTERS:
        raise InputError(f"{path}: found {len(corpus):,} characters, wanted at most {_MOST_CHARACTERS:,}; cut it")
    pieces = list(corpus.pieces())
    documents = sum(piece.ends for piece in pieces)
    if documents > 1:
        raise InputError(f"{path}: found {documents:,} documents, wanted one text")
    return "".join(piece.text for piece in pieces)


def _shortened(text: str) -> str:
    """A text as a title has it."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


LOOK = Look("a text", look_at_text, add_options, check)
