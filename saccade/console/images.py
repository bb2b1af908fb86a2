"""Image files and their captions, for the commands that want them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from saccade.base.errors import InputError
from saccade.console.streams import Incoming, Line
from saccade.vision import IMAGE_ENDINGS


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

    def chunks(self, batch_size: int) -> Iterator[list[Path | InputError]]:
        """So many at a time, or as they come; a name that is no text is an error."""
        if self._incoming is None:
            for first in range(0, len(self.paths), batch_size):
                yield [*self.paths[first : first + batch_size]]
            return
        for lines in self._incoming.chunks(batch_size):
            for first in range(0, len(lines), batch_size):
                yield [_named(line) for line in lines[first : first + batch_size]]


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
