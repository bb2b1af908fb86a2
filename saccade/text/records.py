"""Records of a user's files, such as sentence pairs: refused one by one, or left out and counted."""

import json
from collections import Counter
from collections.abc import Sequence

from saccade.base.errors import InputError
from saccade.base.files import NotUTF8Error, decode_line
from saccade.base.parse_json import parse_json


class BadRecordError(InputError):
    """A record that is refused; `reason` says why in a few words, for those that are counted."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class LeftOut:
    """The records that are left out rather than refused: how many for what reason, and which is the first."""

    def __init__(self, what: str = "pairs") -> None:
        self.what = what
        self.first: str | None = None  # where it is, such as "line 17"
        self.reasons: Counter[str] = Counter()

    def add(self, reason: str, where: str) -> None:
        self.first = where if self.first is None else self.first
        self.reasons[reason] += 1

    def describe(self, *, kept: int) -> str:
        """Such as: 12 of 3,000 pairs are left out: 10 with other than 2 columns, 2 empty; the first is line 17."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.reasons.most_common())
        count = self.reasons.total()
        return f"{count:,} of {kept + count:,} {self.what} are left out: {reasons}; the first is {self.first}"


def decode_record(line: bytes, where: str) -> str:
    """A line of UTF-8, without its end."""
    try:
        return decode_line(line, where)
    except NotUTF8Error as error:
        raise BadRecordError(str(error), reason="not UTF-8") from None


def texts_of_json(
    line: str, where: str, names: Sequence[str], *, remedy: str, whole_numbers: bool = False
) -> list[str]:
    """The texts under these names in a line of JSON; the remedy says how to choose others.

    Where `whole_numbers` may stand there, they are texts, too, as they would be written.
    """
    columns = ", ".join(f'"{name}": "..."' for name in names)
    example = f"an object a line, such as {{{columns}}}"
    try:
        record = parse_json(line, where, wanted=example)
    except InputError as error:
        raise BadRecordError(str(error), reason="not valid JSON") from None
    if not isinstance(record, dict):
        raise BadRecordError(f"{where}: found a {type(record).__name__}, wanted {example}", reason="no object")
    texts: list[str] = []
    for name in names:
        value = record.get(name)
        if whole_numbers and isinstance(value, int):
            value = json.dumps(value)
        if not isinstance(value, str):
            raise BadRecordError(
                f"{where}: found no text under {name!r}, but {', '.join(record)[:200]!r}; {remedy}",
                reason=f"without a text under {name!r}",
            )
        texts.append(value)
    return texts
