"""Images with captions, and the files that say which belong together.

captions.csv     image,caption               (a header; an image stands there once for each caption, each on one line)
captions.tsv     the same with tabs
captions.jsonl   {"image": "a.jpg", "caption": "..."} or {"image": "a.jpg", "captions": ["...", ...]}; with one caption,
                 perhaps "nouns": [{"word": 3, "box": [left, top, right, bottom]}], to see whether a model looks there
*.token.txt      a.jpg#0<TAB>...             (Flickr8k's own)
dataset.json     {"images": [{"filename": "a.jpg", "split": "train", "sentences": [{"raw": "..."}]}]}  (Karpathy's)

Each may be packed: captions.csv.gz.
"""

import csv
from pathlib import Path
from typing import Any, NamedTuple

from saccade.base.compressed import plain_path
from saccade.base.errors import InputError
from saccade.base.files import decode_lines, read_lines, read_text_file
from saccade.base.parse_json import parse_json
from saccade.vision.boxes import Box, Noun


class CaptionedImage(NamedTuple):
    """An image's name and its captions."""

    image: str
    captions: list[str]
    split: str | None = None  # train, val, test, ..., where the file says so
    nouns: tuple[Noun, ...] = ()  # of its one caption, where the file says so


def read_captions(path: Path) -> list[CaptionedImage]:
    """The captioned images of a file, in its order. Which of the formats it has is seen from its name and its start."""
    content, ending = read_text_file(path), plain_path(path).suffix
    if ending == ".json":
        return _expect_some(_karpathy(content, str(path)), path)
    lines = decode_lines(content, str(path))
    if ending == ".jsonl":
        found = [_of_json(line, f"{path}, line {n}") for n, line in enumerate(lines, start=1) if line.strip()]
    elif lines and "#" in lines[0].partition("\t")[0] and "\t" in lines[0]:
        found = [_of_token(line, f"{path}, line {n}") for n, line in enumerate(lines, start=1) if line.strip()]
    else:
        found = _of_table(lines, str(path), tabs=ending == ".tsv")
    return _expect_some(_together(found), path)


def read_names(path: Path) -> list[str]:
    """The names of a list of images, one a line, as Flickr8k's splits are given."""
    names = [line.strip() for line in read_lines(path) if line.strip()]
    if not names:
        raise InputError(f"{path} is empty; wanted the name of an image a line")
    return names


def _together(found: list[CaptionedImage]) -> list[CaptionedImage]:
    """Each image once, with all its captions."""
    images: dict[str, list[CaptionedImage]] = {}
    for one in found:
        images.setdefault(one.image, []).append(one)
    return [
        CaptionedImage(
            image, [text for part in parts for text in part.captions], nouns=parts[0].nouns if len(parts) == 1 else ()
        )
        for image, parts in images.items()
    ]


def _of_token(line: str, where: str) -> CaptionedImage:
    name, tab, caption = line.partition("\t")
    if not tab or not caption.strip():
        raise InputError(f"{where}: found {line[:60]!r}, wanted NAME#NUMBER, a tab, and a caption")
    return CaptionedImage(name.rpartition("#")[0] or name, [caption])


def _of_json(line: str, where: str) -> CaptionedImage:
    wanted = '{"image": "NAME", "caption": "TEXT"}, or "captions" and a list of texts'
    record = parse_json(line, where, wanted=wanted)
    if isinstance(record, dict) and "caption" in record and "captions" in record:
        raise InputError(f"{where}: found both caption and captions, wanted one of them")
    image = record.get("image") if isinstance(record, dict) else None
    captions = record.get("captions", [record.get("caption")]) if isinstance(record, dict) else None
    if not isinstance(image, str) or not _are_texts(captions):
        raise InputError(f"{where}: wanted {wanted}")
    nouns = record.get("nouns", []) if len(captions or ()) == 1 else []
    if not isinstance(nouns, list):
        raise InputError(f"{where}: nouns: wanted a list")
    return CaptionedImage(image, list(captions or ()), nouns=tuple(_noun(noun, where) for noun in nouns))


def _noun(found: Any, where: str) -> Noun:
    try:
        word, box = found["word"], Box(*map(float, found["box"]))
        in_order = 0 <= box.left <= box.right <= 1 and 0 <= box.top <= box.bottom <= 1
    except (TypeError, KeyError, ValueError):
        word, box, in_order = None, None, False
    if not isinstance(word, int) or word < 0 or box is None or not in_order:
        example = '{"word": 3, "box": [left, top, right, bottom]}'
        raise InputError(
            f"{where}: nouns: found {str(found)[:60]!r}, wanted {example}, in shares of the sides, from 0 to 1"
        )
    return Noun(word, box)


def _of_table(lines: list[str], name: str, *, tabs: bool) -> list[CaptionedImage]:
    def cells_of(number: int) -> list[str]:
        line = lines[number - 1]
        return line.split("\t") if tabs else _comma_cells(line, f"{name}, line {number}")

    header = [cell.strip().lower() for cell in cells_of(1)] if lines else []
    if lines and [header.count(column) for column in ("image", "caption")] != [1, 1]:
        raise InputError(
            f"{name}, line 1: found {', '.join(header)[:100]!r}, wanted the names of columns, image and caption once"
            " among them (or the form of Flickr8k: NAME#NUMBER, a tab, a caption)"
        )
    found: list[CaptionedImage] = []
    for number in range(2, len(lines) + 1):
        if not lines[number - 1]:
            continue
        row = cells_of(number)
        if len(row) != len(header):
            raise InputError(
                f"{name}, line {number}: found {len(row)} columns, wanted {len(header)}, as in line 1;"
                " put quotes around cells with commas"
            )
        cells = dict(zip(header, row, strict=True))
        empty = [column for column in ("image", "caption") if not cells[column].strip()]
        if empty:
            raise InputError(f"{name}, line {number}: no {empty[0]}; write one, or take the line out")
        found.append(CaptionedImage(cells["image"], [cells["caption"]]))
    return found


def _comma_cells(line: str, where: str) -> list[str]:
    """The cells of one line by itself: a quote that is never closed would swallow all the lines after it."""
    try:
        (cells,) = csv.reader([line], strict=True)
    except csv.Error as error:
        if "unexpected end" in str(error):
            message = "a quote opens here and is not closed on its line; double it or take it away"
        elif "expected after" in str(error):
            message = "found text after a quote that closes; within a cell in quotes, write a quote twice"
        else:
            message = f"not CSV ({error}); mend the line, or take it out"
        raise InputError(f"{where}: {message}") from None
    return cells


def _karpathy(content: bytes, where: str) -> list[CaptionedImage]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8; convert the file, for example with iconv") from None
    record = parse_json(text, where, wanted='{"images": [...]}; one object a line belongs in a .jsonl file')
    images = record.get("images") if isinstance(record, dict) else None
    if not isinstance(images, list):
        raise InputError(f'{where}: found no list "images"; one object a line belongs in a .jsonl file')
    found: list[CaptionedImage] = []
    for number, image in enumerate(images, start=1):
        try:
            folder, name, split = image.get("filepath"), image["filename"], image.get("split")
            captions = [sentence["raw"] for sentence in image["sentences"]]
        except (TypeError, KeyError, AttributeError):
            captions, name, folder, split = None, None, None, None
        if not isinstance(name, str) or not _are_texts(captions):
            raise InputError(f'{where}, image {number}: wanted "filename", and "sentences" with a "raw" text each')
        if not isinstance(folder, str | None) or not isinstance(split, str | None):
            raise InputError(f'{where}, image {number}: wanted "filepath" and "split" as texts, where they are given')
        found.append(CaptionedImage(name if folder is None else f"{folder}/{name}", captions or [], split))
    return found


def _are_texts(captions: Any) -> bool:
    return isinstance(captions, list) and bool(captions) and all(isinstance(text, str) for text in captions)


def _expect_some(found: list[CaptionedImage], path: Path) -> list[CaptionedImage]:
    if not found:
        raise InputError(f"{path} is empty; it needs images and captions")
    return found
