"""`saccade read`: Read lines of digits from images, each a strip of white on black."""

import argparse
import json
import sys
from pathlib import Path

from saccade.cli.captioned import image_files
from saccade.cli.parser import speak_utf8
from saccade.data import as_png, read_captions, read_strip
from saccade.errors import InputError
from saccade.look import AttentionMap, Grid, Panel, save_page
from saccade.metrics import edits
from saccade.models import LineReader, ReadLine, load_as


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument("images", nargs="+", type=Path, metavar="IMAGE", help="image files, or folders of them")
    parser.add_argument("--compare", type=Path, metavar="MODEL", help="another model beside it, such as one by CTC")
    parser.add_argument("--json", action="store_true", help="JSON lines, with where each letter was")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page: point at a letter, see where it was")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """A line for each image and model. What cannot be read gets a line on stderr, and stops nothing."""
    speak_utf8()
    paths = list(image_files(chosen.images))
    readers = {folder: load_as(LineReader, folder) for folder in (chosen.model, chosen.compare) if folder is not None}
    panels: list[Panel] = []
    failed = 0
    for path in paths:
        try:
            found = {folder: reader.read([path])[0] for folder, reader in readers.items()}
        except InputError as error:
            failed += 1
            print(f"saccade: {error}", file=sys.stderr)
            continue
        for folder, line in found.items():
            _show(path, folder, line, as_json=chosen.json, several=len(readers) > 1)
            if chosen.html is not None and line.letters:
                panels.append(_panel(path, folder, line, readers[folder]))
    if failed == len(paths):
        raise InputError("none of the images could be read")
    if chosen.html is not None:
        save_page(chosen.html, panels, title="lines")
        print(f"written: {chosen.html}", file=sys.stderr)


def _show(path: Path, folder: Path, line: ReadLine, *, as_json: bool, several: bool) -> None:
    if as_json:
        where = line.attention.astype(float).round(4).tolist()
        print(json.dumps({"image": str(path), "model": str(folder), "text": line.text, "attention": where}))
        return
    print("\t".join([str(path), *([str(folder)] if several else []), line.text]))


def _panel(path: Path, folder: Path, line: ReadLine, reader: LineReader) -> Panel:
    """The strip with what was looked at for each letter; the columns are those of the strip as the model sees it."""
    model = reader.settings.model
    strip = read_strip(path, height=model.height, width=model.width)
    grid = Grid(1, line.attention.shape[1], as_png(strip))
    kind = model.kind
    return Panel(f"{path.name}, {folder} ({kind}): {line.text}", [AttentionMap(line.letters, grid, line.attention)])


def evaluate_lines(chosen: argparse.Namespace, reader: LineReader) -> None:
    """How many lines are read without a mistake, and how many letters are wrong for each that there is."""
    if chosen.images is None or chosen.captions is None:
        raise InputError(f"{chosen.model} reads lines; wanted --images DIR and --captions FILE, the texts")
    right, wrong, letters, lines = 0, 0, 0, 0
    for one in read_captions(chosen.captions):
        try:
            (found,) = reader.read([chosen.images / one.image])
        except InputError as error:
            print(f"saccade: {error}", file=sys.stderr)
            continue
        text = one.captions[0]
        lines += 1
        right += found.text == text
        wrong += edits(found.text, text)
        letters += len(text)
    if not lines:
        raise InputError(f"{chosen.images}: none of the images could be read")
    figures = {"lines": lines, "exact": 100 * right / lines, "letter_errors": 100 * wrong / max(letters, 1)}
    if chosen.json:
        print(json.dumps(figures))
        return
    print(f"{lines} lines\nexact         {figures['exact']:6.2f}\nletter errors {figures['letter_errors']:6.2f}")
