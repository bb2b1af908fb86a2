"""`saccade caption`: Say what is on images: files, or all images of a folder."""

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from saccade.cli.captioned import caption_files, image_files
from saccade.cli.parser import count, speak_utf8
from saccade.cli.translate import add_search_arguments, search_of
from saccade.data import picture_for_pages
from saccade.errors import InputError
from saccade.look import FORMATS, Panel, map_of_caption, save_figure, save_page
from saccade.models import Caption, Captioner, Search, load_as


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("images", nargs="+", type=Path, metavar="IMAGE", help="image files, or folders of them")
    parser.add_argument("--json", action="store_true", help="JSON lines, with words, attention and alternatives")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page: point at a word, see where it looked")
    for form in FORMATS:
        parser.add_argument(
            f"--{form[1:]}", type=Path, metavar="FILE", help=f"of one image, a figure: {form[1:].upper()}"
        )
    parser.add_argument("--batch", type=count, default=16, metavar="N", help="images at a time (16)")
    add_search_arguments(parser, what="caption", beam=3)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """One line for each image. What cannot be read gets a line on stderr and stops nothing, unless nothing is left."""
    speak_utf8()
    paths = list(image_files(chosen.images))
    pictures = [path for form in FORMATS if (path := getattr(chosen, form[1:])) is not None]
    if pictures and len(paths) > 1:
        raise InputError(f"{pictures[0]}: a figure is of one image, and {len(paths)} are named; use --html for several")
    for form in FORMATS:
        wanted = getattr(chosen, form[1:])
        if wanted is not None and wanted.suffix.lower() != form:
            raise InputError(f"--{form[1:]} {wanted}: wanted a name that ends in {form}")
    captioner = load_as(Captioner, chosen.model)
    how = Search(**search_of(chosen))
    attention = chosen.json or chosen.html is not None or bool(pictures)
    panels: list[Panel] = []
    failed = 0
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("looking", total=len(paths))
        for first in range(0, len(paths), chosen.batch):
            part = paths[first : first + chosen.batch]
            captions = caption_files(captioner, part, how, attention=attention)
            for path, caption in zip(part, captions, strict=True):
                if isinstance(caption, InputError):
                    failed += 1
                    print(f"saccade: {caption}", file=sys.stderr)
                else:
                    _show(path, caption, as_json=chosen.json)
                    if chosen.html is not None or pictures:
                        panels.append(_panel(path, caption))
            progress.advance(bar, len(part))
    if failed == len(paths):
        raise InputError("none of the images could be read")
    if chosen.html is not None:
        save_page(chosen.html, panels, title="captions")
        print(f"written: {chosen.html}", file=sys.stderr)
    for path in pictures:
        save_figure(path, panels[0].maps[0])
        print(f"written: {path}", file=sys.stderr)


def _panel(path: Path, caption: Caption) -> Panel:
    """What a page shows of an image and its caption."""
    if caption.attention is None:
        raise InputError("this model looks at nothing; it has no attention to show")
    attention = map_of_caption(caption, image=picture_for_pages(path), name=str(path.name))
    return Panel(path.name, [attention])


def _show(path: Path, caption: Caption, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"image": str(path)} | caption.as_json(), ensure_ascii=False))
        return
    for one in (caption, *caption.alternatives):
        score = f"{one.score:.4f}\t" if caption.alternatives else ""
        print(f"{path}\t{score}{one.text}")
