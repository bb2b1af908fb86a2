"""Stopping is saving: Ctrl-C and SIGTERM are wishes, heard where a training can stop without a loss."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

_WISHES = (signal.SIGINT, signal.SIGTERM)


class Stopping:
    """Within it, a wish is a `KeyboardInterrupt`, but within `noted` the first one is noted, and waits to be looked at.

    In other threads than the main one, signals are none of its business.
    """

    def __init__(self) -> None:
        self.asked: int | None = None  # the number of the signal
        self._at_once = True
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._hear) for number in _WISHES}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Within it, a wish waits until somebody looks at `asked`; a second one stops at once, whatever is lost."""
        before, self._at_once = self._at_once, False
        try:
            yield
        finally:
            self._at_once = before

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Within it, a wish is a `KeyboardInterrupt` at once; so is one that came before."""
        before, self._at_once = self._at_once, True
        try:
            if self.asked is not None:
                raise KeyboardInterrupt
            yield
        finally:
            self._at_once = before

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        again, self.asked = self.asked is not None, number
        if again or self._at_once:
            raise KeyboardInterrupt
