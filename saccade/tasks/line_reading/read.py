"""`saccade read`: Read lines of digits from images, each a strip, light on dark or dark on light."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

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
from saccade.look import Panel
from saccade.tasks.line_reading.model import LineReader
from saccade.tasks.line_reading.result import LineReaderOutput
from saccade.tasks.load import load

_AT_ONCE = 16  # images


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "images", nargs="+", type=Path, metavar="IMAGE", help="image files, or folders of them; - for names on a pipe"
    )
    parser.add_argument("--compare", type=Path, metavar="MODEL", help="another model beside it, such as one by CTC")
    parser.add_argument("--json", action="store_true", help="JSON lines, with where each letter was")
    add_figure_options(parser, of="of one image, where each letter was: ")
    add_page_option(parser, help="write a page: point at a letter, see where it was")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """A record for each image and model. What cannot be read gets a line on stderr and an empty record."""
    expect_files(chosen)
    figures = figures_of(chosen)
    images = Images(chosen.images)
    images.expect_one(next(iter(figures), None))
    attention = chosen.json or chosen.html is not None or bool(figures)
    readers = {folder: load(folder, LineReader) for folder in (chosen.model, chosen.compare) if folder is not None}
    panels: list[Panel] = []
    failed = total = 0
    for part in images.chunks(_AT_ONCE):
        total += len(part)
        answers = zip(*(_read(reader, part, attention=attention) for reader in readers.values()), strict=True)
        for path, lines in zip(part, answers, strict=True):
            error = next((line for line in lines if isinstance(line, InputError)), None)
            if error is not None:
                failed += 1
                for folder in readers:
                    show_failure(path, error, as_json=chosen.json, model=folder if len(readers) > 1 else None)
                continue
            assert isinstance(path, Path)  # what has no name has no text
            for (folder, reader), line in zip(readers.items(), lines, strict=True):
                assert not isinstance(line, InputError)
                _show(path, folder, line, as_json=chosen.json, several=len(readers) > 1)
                if (chosen.html is not None or figures) and line.letters:
                    title = f"{path.name}, {folder} ({reader.settings.model.kind}): {line.text}"
                    panels.append(Panel(title, reader.maps(line, image=path)))
        sys.stdout.flush()
    write_page(chosen.html, panels, title="lines")
    if panels:
        write_figures(Maps(panels, "lines"), chosen)
    return tell_failures(failed, total, "images")


def _read(
    reader: LineReader, part: Sequence[Path | InputError], *, attention: bool
) -> list[LineReaderOutput | InputError]:
    return each(lambda some: reader.read(some, attention=attention), part)


def _show(path: Path, folder: Path, line: LineReaderOutput, *, as_json: bool, several: bool) -> None:
    if as_json:
        print(json.dumps({"image": str(path), "model": str(folder)} | line.as_json()))
        return
    print("\t".join([str(path), *([str(folder)] if several else []), line.text]))
