"""What a person sees while a model is trained: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_PATIENCE = 10.0  # seconds between two lines about one piece of work


class Reporter(ABC):
    """Told of everything that happens, and tells the person."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    @abstractmethod
    def say(self, text: str) -> None:
        """A sentence."""

    @abstractmethod
    def step(self, step: int, steps: int, metrics: dict[str, float], *, unit: str) -> None:
        """A step is done; `metrics` are the last of the journal, with `loss` and with `rate` in `unit` a second."""

    @abstractmethod
    def count(self, done: int, total: int, what: str) -> None:
        """So many of a long piece of work are done, before training begins."""


class Silent(Reporter):
    """Says nothing."""

    def say(self, text: str) -> None:
        return

    def step(self, step: int, steps: int, metrics: dict[str, float], *, unit: str) -> None:
        return

    def count(self, done: int, total: int, what: str) -> None:
        return


class Lines(Reporter):
    """A line at each entry of the journal."""

    def __init__(self) -> None:
        self._began: tuple[float, int] | None = None
        self._last: dict[str, float] = {}
        self._counted = 0.0

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)  # noqa: T201

    def step(self, step: int, steps: int, metrics: dict[str, float], *, unit: str) -> None:
        now = time.monotonic()
        if self._began is None:
            self._began = (now, step - 1)
        if metrics and metrics is not self._last:
            self._last = metrics
            began, first = self._began
            left = (now - began) / (step - first) * (steps - step)
            self.say(f"step {step} of {steps}  {_describe(metrics, unit)}  {left:.0f} s left")

    def count(self, done: int, total: int, what: str) -> None:
        if done == total or time.monotonic() > self._counted + _PATIENCE:
            self._counted = time.monotonic()
            self.say(f"{what}: {done:,} of {total:,}")


class Bar(Reporter):
    """A bar with loss, rate and time left."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("{task.fields[metrics]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._bar = None
        self._counts: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        self._progress.console.print(text, markup=False, highlight=False)

    def step(self, step: int, steps: int, metrics: dict[str, float], *, unit: str) -> None:
        if self._bar is None:
            self._bar = self._progress.add_task("", total=steps, completed=step, metrics="")
        self._progress.update(self._bar, completed=step, metrics=_describe(metrics, unit))

    def count(self, done: int, total: int, what: str) -> None:
        if what not in self._counts:
            self._counts[what] = self._progress.add_task("", total=total, metrics=what)
        self._progress.update(self._counts[what], completed=done, visible=done < total)


def _describe(metrics: dict[str, float], unit: str) -> str:
    if not metrics:
        return ""
    return f"loss {metrics['loss']:.3f}  {metrics['rate']:,.0f} {unit}/s"


def make_reporter() -> Reporter:
    """A bar on a terminal, lines elsewhere; both on stderr."""
    return Bar() if sys.stderr.isatty() else Lines()
