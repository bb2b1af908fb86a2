"""`saccade read`: Read lines of digits from images, each a strip, light on dark or dark on light."""

import argparse
import json
import sys
from pathlib import Path

from saccade.cli.captioned import Images, show_failure
from saccade.cli.outputs import each, expect_outputs, tell_failures
from saccade.data import as_png, read_captions, read_strip
from saccade.errors import InputError
from saccade.look import AttentionMap, Grid, Panel, save_page
from saccade.metrics import edits
from saccade.models import LineReader, ReadLine, load_as

_AT_ONCE = 16  # images


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model's folder, such as RUN/model")
    parser.add_argument(
        "images", nargs="+", type=Path, metavar="IMAGE", help="image files, or folders of them; - for names on a pipe"
    )
    parser.add_argument("--compare", type=Path, metavar="MODEL", help="another model beside it, such as one by CTC")
    parser.add_argument("--json", action="store_true", help="JSON lines, with where each letter was")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page: point at a letter, see where it was")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """A record for each image and model. What cannot be read gets a line on stderr and an empty record."""
    expect_outputs(others=[chosen.html])
    images = Images(chosen.images)
    readers = {folder: load_as(LineReader, folder) for folder in (chosen.model, chosen.compare) if folder is not None}
    panels: list[Panel] = []
    failed = total = 0
    for part in images.chunks(_AT_ONCE):
        total += len(part)
        answers = zip(*(each(reader.read, part) for reader in readers.values()), strict=True)
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
                if chosen.html is not None and line.letters:
                    panels.append(_panel(path, folder, line, reader))
        sys.stdout.flush()
    if chosen.html is not None and panels:
        save_page(chosen.html, panels, title="lines")
        print(f"written: {chosen.html}", file=sys.stderr)
    elif chosen.html is not None:
        print(f"saccade: {chosen.html}: there is nothing to show, and it is not written", file=sys.stderr)
    return tell_failures(failed, total, "images")


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


def evaluate_lines(chosen: argparse.Namespace, reader: LineReader) -> int:
    """How many lines are read without a mistake, and how many letters are wrong for each that there is."""
    if chosen.images is None or chosen.captions is None:
        raise InputError(f"{chosen.model} reads lines; wanted --images DIR and --captions FILE, the texts")
    right, wrong, letters, lines = 0, 0, 0, 0
    known = read_captions(chosen.captions)
    for one in known:
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
    else:
        print(f"{lines} lines\nexact         {figures['exact']:6.2f}\nletter errors {figures['letter_errors']:6.2f}")
    return tell_failures(len(known) - lines, len(known), "images")
