"""What was tried and what came of it: a check a row, and the first cases that broke a promise."""

import re
import time
from collections import Counter
from dataclasses import dataclass, field

from soak.nursery import Outcome

Recipe = tuple[str, ...]

_SHOWN = 2  # broken cases of one kind, at most
_MOST_SHOWN = 10  # of all kinds
_LONGEST = 2000  # characters of an output that are shown

_COLUMNS = (
    "check",
    "cases",
    "tracebacks",
    "hangs over 10 s",
    "files touched outside",
    "slowest case, s",
    "peak memory, MB",
    "verdict",
)


@dataclass(frozen=True)
class Options:
    """How much is tried, and which of it."""

    seed: int = 0
    count: int | None = None  # cases; what that means is up to the piece
    first: int = 0  # the number of the first case, to repeat one
    quick: bool = False
    minutes: float = 60.0  # for each piece
    tasks: tuple[str, ...] = ()  # all, if none is named

    def cases(self, *, full: int, quick: int) -> int:
        """How many cases there are to be."""
        return self.count if self.count is not None else quick if self.quick else full

    def wanted(self, recipes: dict[str, Recipe]) -> dict[str, Recipe]:
        """Of the tasks, those that are to be tried."""
        return {task: recipe for task, recipe in recipes.items() if not self.tasks or task in self.tasks}


class Clock:
    """Whether there is time left."""

    def __init__(self, minutes: float) -> None:
        self._end = time.monotonic() + 60 * minutes

    def is_up(self) -> bool:
        return time.monotonic() > self._end


@dataclass
class Check:
    """A promise, and how well it was kept."""

    name: str
    cases: int = 0
    tracebacks: int = 0
    hangs: int = 0
    touched: int = 0
    slowest: float = 0.0
    megabytes: float = 0.0
    broken: int = 0
    stories: list[str] = field(default_factory=list[str])  # of the first broken cases of each kind
    kinds: Counter[str] = field(default_factory=Counter[str])  # how many cases broke a promise in the same way
    cut_short: bool = False

    def count(self, outcome: Outcome) -> None:
        """Take the figures of a process that was part of a case."""
        self.tracebacks += outcome.traceback
        self.hangs += outcome.hung
        self.slowest = max(self.slowest, outcome.seconds)
        self.megabytes = max(self.megabytes, outcome.megabytes)

    def breaks(self, case: str, reasons: list[str], outcome: Outcome | None = None) -> None:
        """Note a case that broke a promise, with all that it takes to see it again."""
        self.broken += 1
        kind = kind_of(reasons[0], outcome)
        self.kinds[kind] += 1
        if self.kinds[kind] <= _SHOWN and len(self.stories) < _MOST_SHOWN:
            said = "" if outcome is None else _said(outcome)
            self.stories.append(f"{self.name}: {case}\n  " + "\n  ".join(reasons) + said)

    @property
    def verdict(self) -> str:
        short = "; time was up" if self.cut_short else ""
        return (f"BROKEN in {self.broken}" if self.broken else "kept" if self.cases else "nothing tried") + short


def kind_of(reason: str, outcome: Outcome | None) -> str:
    """What a broken promise has in common with others: its words without names and numbers, and an error's class."""
    words = [word for word in reason.split() if not re.search(r"[\d/]", word)]
    error = re.findall(rb"^([\w.]+(?:Error|Exception|Interrupt))\b", outcome.err if outcome else b"", re.MULTILINE)
    return " ".join([*words[:12], *(name.decode() for name in error[-1:])])


def _said(outcome: Outcome) -> str:
    how = f"\n  exit code {outcome.code}, {outcome.seconds:.1f} s, {outcome.megabytes:.0f} MB"
    streams = (("stdout", outcome.out), ("stderr", outcome.err))
    return how + "".join(f"\n  {name}: {_short(text)}" for name, text in streams if text)


def _short(text: bytes) -> str:
    shown = re.sub(r"(.)\1{40,}", r"\1\1\1...\1", ascii(text.decode("utf-8", errors="backslashreplace")))
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST // 4]} ... {shown[-_LONGEST * 3 // 4 :]}"


def table(checks: list[Check]) -> str:
    """Markdown, a row a check."""
    rows = [
        (
            check.name,
            f"{check.cases:,}",
            str(check.tracebacks),
            str(check.hangs),
            str(check.touched),
            f"{check.slowest:.2f}",
            f"{check.megabytes:.0f}",
            check.verdict,
        )
        for check in checks
    ]
    lines = (" | ".join(row) for row in (_COLUMNS, ("---",) * len(_COLUMNS), *rows))
    return "\n".join(f"| {line} |" for line in lines)
