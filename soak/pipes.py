"""A command with its input and its output held by us, as a person at a terminal or a program at a pipe holds them."""

import contextlib
import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from soak.nursery import Child

_AT_ONCE = 1 << 16  # bytes


class Talk:
    """Both ends of a command that is under way."""

    def __init__(self, child: Child, source: int, output: int) -> None:
        self.child, self._source, self._output = child, source, output
        for descriptor in (source, output):
            os.set_blocking(descriptor, False)

    def write(self, content: bytes) -> int:
        """Give as much of it as is taken without waiting; how many bytes that is."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            return os.write(self._source, content)
        return 0

    def read(self) -> bytes:
        """What has come."""
        with contextlib.suppress(BlockingIOError):
            return os.read(self._output, _AT_ONCE)
        return b""

    def read_lines(self, count: int, seconds: float) -> bytes:
        """So many lines, or what has come when the time is up."""
        end, found = time.monotonic() + seconds, b""
        while found.count(b"\n") < count and (left := end - time.monotonic()) > 0:
            select.select([self._output], [], [], left)
            found += self.read()
        return found

    def feed(self, content: bytes, seconds: float, *, watch: Callable[[float, int], None]) -> None:
        """Give the same again and again, and take what comes. Each second `watch` is told the memory, and what came."""
        end, offset, came = time.monotonic() + seconds, 0, 0
        told = time.monotonic()
        while (now := time.monotonic()) < end:
            select.select([self._output], [self._source], [], 0.1)
            offset = (offset + self.write(content[offset:])) % len(content)
            came += len(self.read())
            if now > told + 1:
                told = now
                watch(self.child.megabytes(), came)


@contextmanager
def talking(work: Callable[[], int | None], *, terminal: bool = False) -> Iterator[Talk]:
    """A command between two pipes; its input may be a terminal."""
    if terminal:
        source, stdin = os.openpty()
    else:
        stdin, source = os.pipe()
    output, stdout = os.pipe()
    descriptors = [source, stdin, output, stdout]
    try:
        with Child(work, stdin=stdin, stdout=stdout, closing=(source, output)) as child:
            yield Talk(child, source, output)
    finally:
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
