"""Image files and their captions, for the commands that want them."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from saccade.cli.outputs import each, tell_failures
from saccade.cli.streams import Incoming, Line
from saccade.cli.translate import search_of
from saccade.data import IMAGE_ENDINGS, Captioned, Pixels, read_captions, read_names
from saccade.errors import InputError
from saccade.files import write_file
from saccade.metrics import caption_words, score_captions
from saccade.models import Caption, Captioner, Search
from saccade.tasks import score_pointing


def add_captioned_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --images, --captions and --only."""
    parser.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="of a captioner: the folder of the images; of a classifier: a folder for each class, or MNIST's images",
    )
    parser.add_argument(
        "--captions", type=Path, metavar="FILE", help="and their captions, in any form that is trained on"
    )
    parser.add_argument(
        "--only", metavar="LIST", help="of these, the images named in a file, or a split that the captions name"
    )


def evaluate_captions(chosen: argparse.Namespace, captioner: Captioner) -> int:
    """Caption each image freely, score those that can be read, and print the figures."""
    if chosen.images is None or chosen.captions is None:
        raise InputError(f"{chosen.model} captions images; wanted --images DIR and --captions FILE")
    if not chosen.images.is_dir():
        raise InputError(f"{chosen.images}: no such folder; wanted the images that {chosen.captions} is about")
    known = _chosen(read_captions(chosen.captions), chosen.only)
    how = Search(**search_of(chosen))
    boxes = any(one.nouns for one in known)
    images: list[Captioned] = []
    found: list[Caption] = []
    texts: list[str] = []  # of all, empty where there is none
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("looking", total=len(known))
        for first in range(0, len(known), chosen.batch):
            part = known[first : first + chosen.batch]
            captions = caption_files(captioner, [chosen.images / one.image for one in part], how, attention=boxes)
            for one, caption in zip(part, captions, strict=True):
                texts.append("" if isinstance(caption, InputError) else caption.text)
                if isinstance(caption, InputError):
                    print(f"saccade: {caption}", file=sys.stderr)
                else:
                    images.append(one)
                    found.append(caption)
            progress.advance(bar, len(part))
    if not found:
        raise InputError(f"{chosen.images}: none of the images could be read")
    if chosen.output is not None:
        write_file(chosen.output, "".join(f"{text}\n" for text in texts).encode())
    scores = score_captions(
        [caption_words(caption.text) for caption in found],
        [[caption_words(text) for text in one.captions] for one in images],
    )
    if boxes:
        scores["pointing"] = score_pointing(images, found, side=captioner.settings.eye.grid.side)
    if chosen.json:
        print(json.dumps({"images": len(found)} | scores))
    else:
        print(f"{len(found)} images")
        for name, value in scores.items():
            print(f"{name:<10} {value:6.2f}")
    return tell_failures(len(known) - len(found), len(known), "images")


def _chosen(known: list[Captioned], only: str | None) -> list[Captioned]:
    if only is None:
        return known
    in_split = [one for one in known if one.split == only]
    if in_split:
        return in_split
    names = set(read_names(Path(only)))
    found = [one for one in known if one.image in names]
    if not found:
        raise InputError(f"{only}: none of its images has a caption")
    lost = sorted(names - {one.image for one in found})
    if lost:
        print(f"saccade: {only}: {len(lost):,} of its images have no caption, such as {lost[0]}", file=sys.stderr)
    return found


class Images:
    """The images that a command is to answer: files, those of folders, or `-` for names that come in on a pipe."""

    def __init__(self, given: list[Path]) -> None:
        self._incoming = Incoming("-") if given == [Path("-")] else None
        self.paths = [] if self._incoming is not None else list(_image_files(given))
        self.total: int | None = None if self._incoming is not None else len(self.paths)

    def expect_one(self, figure: Path | None) -> None:
        """Raise if a figure is wanted, and not of one image."""
        if figure is not None and self.total != 1:
            many = "names come in on a pipe" if self.total is None else f"{self.total} are named"
            raise InputError(f"{figure}: a figure is of one image, and {many}")

    def chunks(self, batch: int) -> Iterator[list[Path | InputError]]:
        """So many at a time, or as they come; a name that is no text is an error."""
        if self._incoming is None:
            for first in range(0, len(self.paths), batch):
                yield [*self.paths[first : first + batch]]
            return
        for lines in self._incoming.chunks(batch):
            for first in range(0, len(lines), batch):
                yield [_named(line) for line in lines[first : first + batch]]


def _named(line: Line) -> Path | InputError:
    name = line.text.strip()
    return line.error or (
        Path(name) if name else InputError(f"{line.where}: nothing there; wanted the name of an image")
    )


def _image_files(given: list[Path]) -> Iterator[Path]:
    """The files that are meant: of a folder, all that are called like images, by name."""
    for path in given:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(file for file in path.iterdir() if file.suffix.lower() in IMAGE_ENDINGS)
        if not inside:
            deeper = next((one for one in sorted(path.iterdir()) if one.is_dir()), None)
            hint = "" if deeper is None else f"; folders in it are not searched: name them, such as {deeper}"
            endings = ", ".join(sorted(IMAGE_ENDINGS))
            raise InputError(f"{path}: no images there; wanted files that end in {endings}{hint}")
        yield from inside


def show_failure(path: Path | InputError, error: InputError, *, as_json: bool, model: Path | None = None) -> None:
    """The record of an image that has no answer: its name, that of the model if there are several, and no more."""
    print(f"saccade: {error}", file=sys.stderr)
    name = "" if isinstance(path, InputError) else str(path)
    if as_json:
        named = {"image": name} | ({} if model is None else {"model": str(model)})
        print(json.dumps(named | {"error": str(error)}, ensure_ascii=False))
        return
    print("\t".join([name, *([] if model is None else [str(model)]), ""]))


def caption_files(
    captioner: Captioner, paths: Sequence[Path | InputError], how: Search, *, attention: bool = False
) -> list[Caption | InputError]:
    """A caption for each image, or why there is none."""

    def read(path: Path | InputError) -> tuple[str, Pixels] | InputError:
        try:
            return path if isinstance(path, InputError) else (str(path), captioner.read(path, str(path)))
        except InputError as error:
            return error

    def captions(images: list[tuple[str, Pixels]]) -> list[Caption]:
        names, pixels = zip(*images, strict=True)
        return captioner.caption_seen(captioner.see(pixels), names, how, attention=attention)

    return each(captions, [read(path) for path in paths])
