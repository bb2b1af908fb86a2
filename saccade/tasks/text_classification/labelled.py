"""Texts with labels, and the files that hold them: a TSV or CSV, or JSON lines."""

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from saccade.base.errors import InputError
from saccade.base.files import write_file
from saccade.text.records import BadRecordError, LeftOut
from saccade.text.tables import open_table

_CHOOSE = "choose others with data.text_column and data.label_column, elsewhere with --text-column and --label-column"
_MEND = "mend it, or leave such lines out with data.bad_lines=skip"


class LabelledText(NamedTuple):
    """A text, and what it is."""

    text: str
    label: str
    where: str = ""  # it stands, for messages


def read_labelled_texts(
    path: Path,
    *,
    text_column: str = "text",
    label_column: str = "label",
    skip: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> list[LabelledText]:
    """The texts of a file, in its order; labels are what stands there, without spaces around it.

    A line that cannot be read, or that has no text or no label, is an `InputError`. With `skip` it is left out; how
    many are is what `tell` is told.
    """
    table = open_table(path, [text_column, label_column], choose=_CHOOSE, mend=_MEND, whole_numbers=True)
    found: list[LabelledText] = []
    left_out = LeftOut("texts")
    for number, line in table.lines:
        where = f"{path}, line {number}"
        try:
            text, label = table.cells(line, number)
            one = _full(text, label, where)
        except BadRecordError as error:
            if not skip:
                raise
            left_out.add(error.reason, f"line {number}")
            continue
        found.append(one)
    reason = f"; {left_out.describe(kept=len(found))}" if left_out.first is not None else ""
    if not found:
        raise InputError(f"{path}: no text there with a label{reason}; wanted one a line, and a first line of names")
    if reason:
        tell(f"{path}{reason.replace(';', ':', 1)}")
    return found


def _full(text: str, label: str, where: str) -> LabelledText:
    for name, value in (("text", text), ("label", label)):
        if not value.strip():
            raise BadRecordError(f"{where}: the {name} is empty; {_MEND}", reason=f"without a {name}")
    return LabelledText(text, label.strip(), where)


def write_labelled_texts(path: Path, texts: Iterable[LabelledText]) -> None:
    """Write a TSV with the columns `label` and `text`."""
    lines = ["label\ttext", *(f"{one.label}\t{one.text}" for one in texts)]
    write_file(path, "".join(f"{line}\n" for line in lines).encode())


def labels_of(texts: Iterable[LabelledText]) -> list[str]:
    """All labels, sorted."""
    return sorted({one.label for one in texts})


def stratified(texts: Sequence[LabelledText], *, seed: str) -> list[int]:
    """The indices of the texts, shuffled so that of any beginning each label has the share that it has of all.

    So the first 500 are among the first 2,000: curves over the amount of data are of sets that grow.
    """
    chance = random.Random(seed)
    indices = list(range(len(texts)))
    chance.shuffle(indices)
    by_label: dict[str, list[int]] = {}
    for index in indices:
        by_label.setdefault(texts[index].label, []).append(index)
    places = [((rank + 0.5) / len(group), index) for group in by_label.values() for rank, index in enumerate(group)]
    return [index for _, index in sorted(places, key=lambda place: place[0])]


def as_read(text: str) -> str:
    """One space before the text, and none around it: where words have spaces, the first is as all others."""
    return f" {text.strip()}"
