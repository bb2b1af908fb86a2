"""`saccade caption`: Say what is on images: files, or all images of a folder."""

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from saccade.cli.captioned import Images, caption_files, show_failure
from saccade.cli.outputs import expect_outputs, tell_failures
from saccade.cli.parser import count
from saccade.cli.translate import add_search_arguments, search_of
from saccade.data import picture_for_pages
from saccade.errors import InputError
from saccade.look import FORMATS, Panel, map_of_caption, save_figure, save_page
from saccade.models import Caption, Captioner, Search, load_as


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "images", nargs="+", type=Path, metavar="IMAGE", help="image files, or folders of them; - for names on a pipe"
    )
    parser.add_argument("--json", action="store_true", help="JSON lines, with words, attention and alternatives")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page: point at a word, see where it looked")
    for form in FORMATS:
        parser.add_argument(
            f"--{form[1:]}", type=Path, metavar="FILE", help=f"of one image, a figure: {form[1:].upper()}"
        )
    parser.add_argument("--batch", type=count, default=16, metavar="N", help="images at a time (16)")
    add_search_arguments(parser, what="caption", beam=3)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """One record for each image. What cannot be read gets a line on stderr and an empty record, and stops nothing."""
    pictures = [path for form in FORMATS if (path := getattr(chosen, form[1:])) is not None]
    for form in FORMATS:
        wanted = getattr(chosen, form[1:])
        if wanted is not None and wanted.suffix.lower() != form:
            raise InputError(f"--{form[1:]} {wanted}: wanted a name that ends in {form}")
    expect_outputs(figures=pictures, others=[chosen.html])
    images = Images(chosen.images)
    images.expect_one(next(iter(pictures), None))
    how = Search(**search_of(chosen))
    captioner = load_as(Captioner, chosen.model)
    attention = chosen.json or chosen.html is not None or bool(pictures)
    panels: list[Panel] = []
    failed = total = 0
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("looking", total=images.total)
        for part in images.chunks(chosen.batch):
            total += len(part)
            for path, caption in zip(part, caption_files(captioner, part, how, attention=attention), strict=True):
                if isinstance(caption, InputError):
                    failed += 1
                    show_failure(path, caption, as_json=chosen.json)
                    continue
                assert isinstance(path, Path)  # what has no name has no caption
                _show(path, caption, as_json=chosen.json, several=chosen.nbest > 1)
                if chosen.html is not None or pictures:
                    panels.append(_panel(path, caption))
            sys.stdout.flush()
            progress.advance(bar, len(part))
    if chosen.html is not None and panels:
        save_page(chosen.html, panels, title="captions")
        print(f"written: {chosen.html}", file=sys.stderr)
    elif chosen.html is not None:
        print(f"saccade: {chosen.html}: there is nothing to show, and it is not written", file=sys.stderr)
    for path in pictures[: len(panels)]:
        save_figure(path, panels[0].maps[0])
        print(f"written: {path}", file=sys.stderr)
    return tell_failures(failed, total, "images")


def _panel(path: Path, caption: Caption) -> Panel:
    """What a page shows of an image and its caption."""
    if caption.attention is None:
        raise InputError("this model looks at nothing; it has no attention to show")
    attention = map_of_caption(caption, image=picture_for_pages(path), name=str(path.name))
    return Panel(path.name, [attention])


def _show(path: Path, caption: Caption, *, as_json: bool, several: bool) -> None:
    if as_json:
        print(json.dumps({"image": str(path)} | caption.as_json(), ensure_ascii=False))
        return
    for one in (caption, *caption.alternatives):
        score = f"{one.score:.4f}\t" if several else ""
        print(f"{path}\t{score}{one.text}")
