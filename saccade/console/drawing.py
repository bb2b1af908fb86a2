"""The files that a command can draw into, the same wherever something is drawn: --png --svg --pdf --html --json."""

import argparse
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from saccade.base.errors import InputError
from saccade.base.files import expect_writable
from saccade.console.options import TakesOptions
from saccade.console.parser import count, expect_text
from saccade.look import (
    KINDS,
    AttentionMap,
    Panel,
    draw,
    draw_surprise,
    drawable,
    map_record,
    save_beside,
    save_figure,
    save_page,
    save_surprise,
)
from saccade.look.strip import NARROWEST

FIGURES = ("png", "svg", "pdf")


class Drawing(ABC):
    """What a command has to show, and the forms that it can be shown in."""

    @abstractmethod
    def figure(self, path: Path) -> None:
        """Write a figure, in the form that its name ends in."""

    @abstractmethod
    def show(self) -> None:
        """Draw into the terminal."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """All of it as plain lists and numbers."""

    def page(self, path: Path) -> None:
        """Write a page."""
        raise InputError(f"--html {path}: there is no page of this; take --png, --svg or --pdf")

    def beside(self, other: "Drawing") -> "Drawing":
        """Both, side by side."""
        raise InputError("--compare: only what two models look at can stand side by side")


def add_figure_options(parser: TakesOptions, *, of: str = "") -> None:
    """Add --png, --svg and --pdf."""
    for form in FIGURES:
        parser.add_argument(f"--{form}", type=Path, metavar="FILE", help=f"{of}write a figure as {form.upper()}")


def add_page_option(parser: TakesOptions, *, help: str = "write a page to look around in, with all maps") -> None:  # noqa: A002
    """Add --html."""
    parser.add_argument("--html", type=Path, metavar="FILE", help=help)


def figures_of(chosen: argparse.Namespace) -> list[Path]:
    """The figures that are wanted."""
    return [path for form in FIGURES if (path := getattr(chosen, form)) is not None]


def expect_files(chosen: argparse.Namespace) -> None:
    """What is to be drawn into can be written, as far as can be seen before anything is done for it."""
    for form in FIGURES:
        path: Path | None = getattr(chosen, form, None)
        if path is not None and path.suffix.lower() != f".{form}":
            raise InputError(f"--{form}: found {path}, wanted a name that ends in .{form}")
    for form in (*FIGURES, "html"):
        path = getattr(chosen, form, None)
        if path is not None:
            expect_writable(path)


def write_figures(drawing: Drawing, chosen: argparse.Namespace) -> None:
    """Write --png, --svg and --pdf; what matplotlib warns of, such as a letter that no font has, gets a line."""
    for path in figures_of(chosen):
        with warnings_as_lines(path):
            drawing.figure(path)
        say_written(path)


@contextmanager
def warnings_as_lines(path: Path) -> Iterator[None]:
    """What is warned of while a file is drawn gets a line on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        print(f"saccade: {path}: {warning.message}", file=sys.stderr)


def write_page(path: Path | None, panels: Sequence[Panel], *, title: str) -> None:
    """Write --html, if it is wanted and there is something to show."""
    if path is None:
        return
    if not panels:
        print(f"saccade: {path}: there is nothing to show, and it is not written", file=sys.stderr)
        return
    save_page(path, panels, title=title)
    say_written(path)


def say_written(path: Path) -> None:
    """A line for each file, beside the answers; a name that is no UTF-8 is shown as well as it can be."""
    print(f"written: {drawable(str(path))}", file=sys.stderr)


def add_map_options(parser: TakesOptions) -> None:
    """Add what says which of a model's maps is drawn, and how."""
    parser.add_argument(
        "--kind",
        choices=KINDS[:3],
        help="who looks: the output at the input (cross, as without), or each at itself (encoder, decoder)",
    )
    parser.add_argument("--layer", type=count, metavar="N", help="from 1; otherwise the mean of all")
    parser.add_argument("--head", type=count, metavar="N", help="from 1; otherwise the mean of all")
    parser.add_argument("--grid", action="store_true", help="in figures, each layer and head by itself")
    parser.add_argument("--title", metavar="TEXT", help='of figures; "" is none (the input)')
    add_page_option(parser)


@dataclass(frozen=True)
class Maps(Drawing):
    """The attention maps of one model, or of several side by side; and how surprising a text was, where that is known.

    A figure is of one thing: the maps, or where there are none the text.
    """

    panels: Sequence[Panel]
    name: str  # of a page with them
    layer: int | None = None  # from 0
    head: int | None = None
    grid: bool = False
    title: str | None = None  # of figures

    def figure(self, path: Path) -> None:
        if not all(panel.maps for panel in self.panels):
            texts = [replace(panel.surprise, name=panel.title) for panel in self.panels if panel.surprise is not None]
            save_surprise(path, texts, title=self.title)
            return
        how: dict[str, Any] = {"layer": self.layer, "head": self.head, "grid": self.grid, "title": self.title}
        picked = [_picked(panel) for panel in self.panels]
        if len(picked) == 1:
            save_figure(path, picked[0], **how)
        else:
            titles = [panel.title for panel in self.panels]
            save_beside(path, list(zip(titles, picked, strict=True)), **how)

    def show(self) -> None:
        console = Console(highlight=False)
        colour = console.is_terminal and console.color_system is not None and not console.no_color
        for panel in self.panels:
            console.print(f"{drawable(panel.title)}\n", markup=False, soft_wrap=True)
            if panel.surprise is not None:
                strip = draw_surprise(panel.surprise, colour=colour, width=max(NARROWEST, console.width))
                console.print(strip, end="\n\n" if panel.maps else "\n", soft_wrap=True)
            if panel.maps:
                where = {"layer": self.layer, "head": self.head}
                console.print(draw(_picked(panel), **where, colour=colour, width=console.width))

    def as_json(self) -> dict[str, Any]:
        if len(self.panels) > 1:
            raise InputError(
                "--json: it is the numbers of one map, and --compare makes two; look at one model at a time"
            )
        (panel,) = self.panels
        record = map_record(_picked(panel).select(layer=self.layer, head=self.head)) if panel.maps else {}
        return record | ({} if panel.surprise is None else {"surprise": panel.surprise.record()})

    def page(self, path: Path) -> None:
        save_page(path, self.panels, title=self.name)

    def beside(self, other: Drawing) -> Drawing:
        if not isinstance(other, Maps):
            return super().beside(other)
        return replace(self, panels=[*self.panels, *other.panels])


def check_map_options(chosen: argparse.Namespace) -> None:
    """Refuse what cannot be, whatever the model."""
    if chosen.title is not None:
        expect_text(chosen.title, "--title")
    if chosen.grid and not figures_of(chosen):
        raise InputError("--grid: it is for figures; name one with --png, --svg or --pdf")


def maps_as_chosen(panel: Panel, chosen: argparse.Namespace, *, name: str) -> Maps:
    """The maps of a model, seen as `add_map_options` lets one choose; what it does not have is refused."""
    if not panel.maps:
        raise InputError(f"{chosen.model}: this model looks at nothing; it has no attention to show")
    kind = chosen.kind or (panel.maps[0].kind if len(panel.maps) == 1 else "cross")
    layer, head = (None if number is None else number - 1 for number in (chosen.layer, chosen.head))
    chosen_panel = replace(panel, kind=kind, layer=layer, head=head)
    attention = _picked(chosen_panel)
    expect_layer_and_head(attention, chosen)
    return Maps([chosen_panel], name, layer, head, grid=chosen.grid, title=chosen.title)


def expect_layer_and_head(attention: AttentionMap, chosen: argparse.Namespace) -> None:
    """The map has the --layer and the --head that were asked for, which count from 1."""
    for name, there in (("layer", attention.layers), ("head", attention.heads)):
        number = getattr(chosen, name)
        if number is not None and number > there:
            raise InputError(f"--{name}: found {number}, wanted 1 to {there}; the model has {there}")


def _picked(panel: Panel) -> AttentionMap:
    """The map of the kind that was asked for."""
    for attention in panel.maps:
        if panel.kind in (None, attention.kind):
            return attention
    have = ", ".join(attention.kind for attention in panel.maps)
    raise InputError(f"--kind: found {panel.kind}, which this model does not have; it has {have}")
