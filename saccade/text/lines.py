"""Plain text with a text a line: a sentence, or a document of several."""

from collections.abc import Callable, Sequence
from pathlib import Path

from saccade.base.compressed import plain_path
from saccade.base.errors import InputError
from saccade.base.streamed import KnownFile, stream_lines
from saccade.text.corpus_files import NAMES, find_files
from saccade.text.records import BadRecordError, LeftOut, decode_record

_RECORDS = {".jsonl", ".json", ".tsv", ".csv"}


def read_texts(
    path: Path,
    *,
    names: Sequence[str] = NAMES,
    skip: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> list[str]:
    """The lines of a file, or of the files in a folder that have one of the names, with one space between words.

    Blank lines are left out. A line that is not UTF-8 is an `InputError`; with `skip` it is left out. What is left out
    is counted, and `tell` is told.
    """
    return [text for file in find_files(path, names, tell) for text in _read_file(file, skip=skip, tell=tell)]


def _read_file(file: KnownFile, *, skip: bool, tell: Callable[[str], None]) -> list[str]:
    if plain_path(file.path).suffix.lower() in _RECORDS:
        raise InputError(f"{file.path}: found a file of records, wanted plain text, a text a line; save its texts so")
    texts: list[str] = []
    left_out = LeftOut("lines")
    for number, line in enumerate(stream_lines(file), start=1):
        try:
            text = " ".join(decode_record(line, f"{file.path}, line {number}").split())
        except BadRecordError as bad:
            if not skip:
                raise
            left_out.add(bad.reason, f"line {number}")
            continue
        if text:
            texts.append(text)
        else:
            left_out.add("empty", f"line {number}")
    if not texts:
        reason = f"; {left_out.describe(kept=0)}" if left_out.first is not None else ""
        raise InputError(f"{file.path}: found no text, wanted a text a line{reason}")
    if left_out.first is not None:
        tell(f"{file.path}: {left_out.describe(kept=len(texts))}")
    return texts
