"""`saccade caption`: Say what is on images: files, or all images of a folder."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from saccade.base.errors import InputError
from saccade.console.drawing import (
    Maps,
    add_figure_options,
    add_page_option,
    expect_files,
    figures_of,
    write_figures,
    write_page,
)
from saccade.console.images import Images, show_failure
from saccade.console.outputs import each, tell_failures
from saccade.console.parser import count
from saccade.console.search import add_search_arguments, search_of
from saccade.decode import Search
from saccade.look import Panel
from saccade.tasks.captioning.model import Captioner
from saccade.tasks.captioning.result import Caption
from saccade.tasks.load import load
from saccade.vision import Pixels

BEAM = 3  # hypotheses, where none is chosen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "images", nargs="+", type=Path, metavar="IMAGE", help="image files, or folders of them; - for names on a pipe"
    )
    parser.add_argument("--json", action="store_true", help="JSON lines, with words, attention and alternatives")
    add_page_option(parser, help="write a page: point at a word, see where it looked")
    add_figure_options(parser, of="of one image: ")
    parser.add_argument("--batch-size", type=count, default=16, metavar="N", help="images at a time (16)")
    add_search_arguments(parser, what="caption", beam=BEAM)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """One record for each image. What cannot be read gets a line on stderr and an empty record, and stops nothing."""
    expect_files(chosen)
    figures = figures_of(chosen)
    images = Images(chosen.images)
    images.expect_one(next(iter(figures), None))
    how = Search(**search_of(chosen, beam=BEAM))
    captioner = load(chosen.model, Captioner)
    attention = chosen.json or chosen.html is not None or bool(figures)
    panels: list[Panel] = []
    failed = total = 0
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("looking", total=images.total)
        for part in images.chunks(chosen.batch_size):
            total += len(part)
            for path, caption in zip(part, caption_files(captioner, part, how, attention=attention), strict=True):
                if isinstance(caption, InputError):
                    failed += 1
                    show_failure(path, caption, as_json=chosen.json)
                    continue
                assert isinstance(path, Path)  # what has no name has no caption
                _show(path, caption, as_json=chosen.json, several=chosen.nbest > 1)
                if chosen.html is not None or figures:
                    panels.append(Panel(path.name, captioner.maps(caption, image=path, name=path.name)))
            sys.stdout.flush()
            progress.advance(bar, len(part))
    write_page(chosen.html, panels, title="captions")
    if panels:
        write_figures(Maps(panels[:1], "captions"), chosen)
    return tell_failures(failed, total, "images")


def _show(path: Path, caption: Caption, *, as_json: bool, several: bool) -> None:
    if as_json:
        print(json.dumps({"image": str(path)} | caption.as_json(), ensure_ascii=False))
        return
    for one in (caption, *caption.alternatives):
        score = f"{one.score:.4f}\t" if several else ""
        print(f"{path}\t{score}{one.text}")


def caption_files(
    captioner: Captioner, paths: Sequence[Path | InputError], how: Search, *, attention: bool = False
) -> list[Caption | InputError]:
    """A caption for each image, or why there is none."""

    def read(path: Path | InputError) -> tuple[str, Pixels] | InputError:
        try:
            return path if isinstance(path, InputError) else (str(path), captioner.preprocess(path, str(path)))
        except InputError as error:
            return error

    def captions(images: list[tuple[str, Pixels]]) -> list[Caption]:
        names, pixels = zip(*images, strict=True)
        return captioner.caption_encoded(captioner.encode(pixels), names, how, attention=attention)

    return each(captions, [read(path) for path in paths])
