"""What the commands that answer many inputs have in common: where their files go, what they say of scores, failures."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from saccade.base.errors import InputError
from saccade.base.files import expect_writable
from saccade.look.figure import form_of

Input = TypeVar("Input")
Output = TypeVar("Output")


def expect_outputs(*, figures: Sequence[Path | None] = (), others: Sequence[Path | None] = ()) -> None:
    """Raise unless the files that are wanted can be written, figures in a form that there is: before the work."""
    for path in figures:
        if path is not None:
            form_of(path)
    for path in (*figures, *others):
        if path is not None:
            expect_writable(path)


def each(
    answer: Callable[[list[Input]], Sequence[Output]], inputs: Sequence[Input | InputError]
) -> list[Output | InputError]:
    """The answer to each input, or why there is none. They go together, unless that fails: then one by one."""
    good = [one for one in inputs if not isinstance(one, InputError)]
    answers: list[Output | InputError]
    try:
        answers = list(answer(good)) if good else []
    except InputError:
        answers = [_alone(answer, one) for one in good]
    rest = iter(answers)
    return [one if isinstance(one, InputError) else next(rest) for one in inputs]


def _alone(answer: Callable[[list[Input]], Sequence[Output]], one: Input) -> Output | InputError:
    try:
        return answer([one])[0]
    except InputError as error:
        return error


class Blank(InputError):  # noqa: N818 - nothing is wrong
    """An input with nothing in it: it has an empty record, and nobody has to be told."""


def show_nothing(error: InputError, empty: dict[str, object], *, as_json: bool) -> bool:
    """The record of an input that has no answer, and why on stderr; gives whether that is a failure."""
    failed = not isinstance(error, Blank)
    if failed:
        print(f"saccade: {error}", file=sys.stderr)
    print(json.dumps(empty | ({"error": str(error)} if failed else {}), ensure_ascii=False) if as_json else "")
    return failed


def print_scores(total: int, what: str, scores: Mapping[str, float], *, as_json: bool) -> None:
    """The figures of `saccade evaluate`, a line each, of so many inputs; or all as one JSON object."""
    if as_json:
        print(json.dumps({what: total, **scores}))
        return
    print(f"{total} {what}")
    width = max(10, *map(len, scores))
    for name, value in scores.items():
        print(f"{name:<{width}} {value:6.2f}")


def tell_failures(failed: int, total: int, what: str) -> int:
    """Say how many of the inputs have no answer, if any; gives the exit code: 1 if some have none, 2 if all have."""
    if failed and total > 1:
        print(f"saccade: {failed:,} of {total:,} {what} failed, as said above", file=sys.stderr)
    return 0 if not failed else 2 if failed == total else 1
