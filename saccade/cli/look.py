"""`saccade look`: Show what a model looks at for each word that it writes."""

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

from rich.console import Console

from saccade.cli.machine import OF_MACHINES, add_machine_arguments, look_at_machine, say_written
from saccade.cli.parser import count, expect_text
from saccade.errors import InputError
from saccade.files import expect_writable
from saccade.look import (
    KINDS,
    AttentionMap,
    Panel,
    draw,
    drawable,
    maps_of,
    save_beside,
    save_figure,
    save_map,
    save_page,
)
from saccade.models import MemoryMachine, Reading, Translation, Translator, load, load_as

_FIGURES = ("png", "svg", "pdf")
_OF_TRANSLATORS = ("target", "beam", "compare", "kind", "layer", "head", "grid", "title", "html")
_BEAM, _KIND = 5, "cross"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("sentence", nargs="?", metavar="SENTENCE", help="what to translate; machines take none")
    parser.add_argument("--target", metavar="TEXT", help="look at this translation instead of the model's own")
    parser.add_argument("--beam", type=count, metavar="N", help="hypotheses kept; 1 is greedy search (5)")
    parser.add_argument("--compare", type=Path, metavar="MODEL", help="show another model beside it")
    parser.add_argument(
        "--kind",
        choices=KINDS[:3],
        help="who looks: the target at the source (cross, as without), or each at itself (encoder, decoder)",
    )
    parser.add_argument("--layer", type=count, metavar="N", help="from 1; otherwise the mean of all")
    parser.add_argument("--head", type=count, metavar="N", help="from 1; otherwise the mean of all")
    parser.add_argument("--grid", action="store_true", help="in figures, each layer and head by itself")
    parser.add_argument("--title", metavar="TEXT", help='of figures; "" is none (the sentence)')
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page to look around in, with all maps")
    for form in _FIGURES:
        parser.add_argument(f"--{form}", type=Path, metavar="FILE", help=f"write a figure as {form.upper()}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the map's numbers as JSON")
    add_machine_arguments(parser)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Translate, or follow the given target, and draw: to the files that were named, or to the terminal."""
    _expect_places(chosen)
    if chosen.sentence is None:
        look_at_machine(chosen, _machine(chosen))
        return
    _refuse(chosen, OF_MACHINES, "it is for machines, and they take no SENTENCE")
    chosen.beam, chosen.kind = chosen.beam or _BEAM, chosen.kind or _KIND
    _expect_words(chosen)
    if chosen.compare is not None and chosen.json is not None:
        raise InputError("--json: it is the numbers of one map, and --compare makes two; look at one model at a time")
    if chosen.grid and not any(getattr(chosen, form) for form in _FIGURES):
        raise InputError("--grid: it is for figures; name one with --png, --svg or --pdf")
    panels = [_panel(folder, chosen) for folder in (chosen.model, chosen.compare) if folder is not None]
    picked = [_pick(panel, chosen) for panel in panels]
    if chosen.html is not None:
        save_page(chosen.html, panels, title=chosen.sentence)
        say_written(chosen.html)
    where: dict[str, Any] = {"layer": _from_0(chosen.layer), "head": _from_0(chosen.head)}
    for form in _FIGURES:
        path = getattr(chosen, form)
        if path is not None:
            _save_figure(path, panels, picked, **where, grid=chosen.grid, title=chosen.title)
            say_written(path)
    if chosen.json is not None:
        save_map(chosen.json, picked[0].select(**where))
        say_written(chosen.json)
    if not any(getattr(chosen, name) for name in (*_FIGURES, "json", "html")):
        console = Console(highlight=False)
        for panel, attention in zip(panels, picked, strict=True):
            console.print(f"{drawable(panel.title)}\n", markup=False, soft_wrap=True)
            colour = console.is_terminal and console.color_system is not None
            console.print(draw(attention, **where, colour=colour, width=console.width))


def _expect_places(chosen: argparse.Namespace) -> None:
    """What is to be written can be, as far as can be seen before anything is done for it."""
    for name in (*_FIGURES, "html", "json"):
        path: Path | None = getattr(chosen, name)
        if path is None:
            continue
        if name in _FIGURES and path.suffix.lower() != f".{name}":
            raise InputError(f"--{name}: found {path}, wanted a name that ends in .{name}")
        expect_writable(path)


def _expect_words(chosen: argparse.Namespace) -> None:
    for name, text in (("SENTENCE", chosen.sentence), ("--target", chosen.target), ("--title", chosen.title)):
        if text is not None:
            expect_text(text, name)
    if not chosen.sentence.split():
        raise InputError("SENTENCE: found nothing but space, wanted words to translate")
    if chosen.target is not None and not chosen.target.split():
        raise InputError("--target: found nothing but space, wanted a translation")


def _save_figure(path: Path, panels: list[Panel], picked: list[AttentionMap], **how: Any) -> None:
    """One model's map, or those of both side by side; what matplotlib warns of gets a line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if len(picked) == 1:
            save_figure(path, picked[0], **how)
        else:
            titles = [panel.title for panel in panels]
            save_beside(path, list(zip(titles, picked, strict=True)), **how)
    for warning in caught:
        print(f"saccade: {path}: {warning.message}", file=sys.stderr)


def _machine(chosen: argparse.Namespace) -> MemoryMachine:
    """Without a sentence, the model has to be one that makes its own sequences, and draws its own panels."""
    if isinstance(load(chosen.model), Translator):
        raise InputError("SENTENCE: found nothing, wanted words to translate")
    model = load_as(MemoryMachine, chosen.model)
    _refuse(chosen, _OF_TRANSLATORS, "it is for sentences; machines take --png, --svg, --pdf, --json and their own")
    return model


def _refuse(chosen: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(chosen, name) not in (None, False):
            raise InputError(f"--{name}: {why}")


def _panel(folder: Path, chosen: argparse.Namespace) -> Panel:
    translator = load_as(Translator, folder)
    name = str(folder.parent.name if folder.name == "model" else folder.name) or str(folder)
    found, text = _follow(translator, chosen)
    maps = maps_of(found, name=chosen.sentence)
    if not maps:
        raise InputError(f"{folder}: this model looks at nothing; it has no attention to show")
    tree = (
        []
        if chosen.target is not None or chosen.html is None
        else translator.search_tree(chosen.sentence, beam=chosen.beam)
    )
    where = {"layer": _from_0(chosen.layer), "head": _from_0(chosen.head)}
    return Panel(f"{name}: {text}", maps, tree, kind=chosen.kind, **where)


def _follow(translator: Translator, chosen: argparse.Namespace) -> tuple[Translation | Reading, str]:
    if chosen.target is not None:
        reading = translator.force([chosen.sentence], [chosen.target])[0]
        return reading, f"{chosen.target} (log probability {reading.log_prob:.3f})"
    translation = translator.translate([chosen.sentence], beam=chosen.beam, attention=True, overlong="error")[0]
    return translation, f"{translation.text} (score {translation.score:.3f})"


def _pick(panel: Panel, chosen: argparse.Namespace) -> AttentionMap:
    """The map of the kind that was asked for, which has the layer and head that were asked for."""
    for attention in panel.maps:
        if attention.kind == chosen.kind:
            expect_layer_and_head(attention, chosen)
            return attention
    have = ", ".join(attention.kind for attention in panel.maps)
    raise InputError(f"--kind: found {chosen.kind}, which this model does not have; it has {have}")


def expect_layer_and_head(attention: AttentionMap, chosen: argparse.Namespace) -> None:
    """The map has the --layer and the --head that were asked for, which count from 1."""
    for name, there in (("layer", attention.layers), ("head", attention.heads)):
        number = getattr(chosen, name)
        if number is not None and number > there:
            raise InputError(f"--{name}: found {number}, wanted 1 to {there}; the model has {there}")


def _from_0(number: int | None) -> int | None:
    return None if number is None else number - 1
