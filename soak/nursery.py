"""Work in processes of their own, forked from one that has imported everything and computed nothing.

So a case costs no start-up, and whatever it does to its process, the next one does not see it. For Linux.
"""

import contextlib
import gc
import importlib
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Self

LIMIT = 10.0  # seconds, after which what is no training counts as a hang
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_MOST_READ = 1 << 30  # bytes of an output


class Outcome(NamedTuple):
    """How a process ended."""

    code: int  # its exit code; below 0, the number of the signal that ended it
    seconds: float
    megabytes: float  # of memory, at the most
    out: bytes
    err: bytes
    hung: bool = False  # it was ended because its time was up

    @property
    def traceback(self) -> bool:
        return b"Traceback (most recent call last)" in self.err


def warm_up() -> None:
    """Import what the commands import, and nothing that would start a thread, which no fork would have."""
    import torch  # noqa: PLC0415 - here, so that a test can import this module in no time

    from saccade.cli.main import all_commands  # noqa: PLC0415
    from saccade.tasks.kind import all_kinds  # noqa: PLC0415
    from saccade.tasks.translation.dates import Dates  # noqa: PLC0415

    torch.set_num_threads(1)
    for name in ("torch._dynamo", "matplotlib.pyplot", *(module for module, _ in all_commands().values())):
        importlib.import_module(name)
    all_kinds()
    dates = Dates(0)
    for number in range(500):  # then Babel has read its locales
        dates.pair(number)
    gc.collect()
    gc.freeze()


class Child:
    """A process that is under way. Its standard streams are files in memory."""

    def __init__(
        self,
        work: Callable[[], int | None],
        *,
        stdin: bytes | int | None = b"",
        stdout: int | None = None,
        memory: int | None = None,
        closing: Sequence[int] = (),
    ) -> None:
        """Fork.

        stdin    what is there to read; or a descriptor; or None, then it is closed
        stdout   a descriptor in place of a file in memory
        memory   bytes that it may take above what it begins with
        closing  descriptors that it is not to have, such as the other ends of its pipes
        """
        self._out, self._err = os.memfd_create("stdout"), os.memfd_create("stderr")
        given = _in_memory(stdin) if isinstance(stdin, bytes) else stdin
        self._began = time.monotonic()
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # a child hears them when it is at work, and not before
        self.pid = os.fork()
        if self.pid == 0:
            for descriptor in closing:
                os.close(descriptor)
            _live(work, given, self._out if stdout is None else stdout, self._err, memory)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        self._handle = os.pidfd_open(self.pid)
        if isinstance(stdin, bytes) and given is not None:
            os.close(given)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait(0.0)

    def signal(self, number: int) -> None:
        """Send a signal, if it is still there."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def megabytes(self) -> float:
        """The memory that it takes now."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, IndexError):
            pages = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]
            return int(pages) * resource.getpagesize() / 2**20
        return 0.0

    def ends_within(self, seconds: float) -> bool:
        """Wait so long at the most; whether it has ended."""
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(1000 * max(seconds, 0.0)))

    def wait(self, seconds: float) -> Outcome:
        """Wait for its end, and end it when the time is up. Once."""
        if self._handle < 0:
            return Outcome(0, 0.0, 0.0, b"", b"")
        hung = True
        try:
            hung = not self.ends_within(seconds)
        finally:
            self.signal(signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):  # its own children, such as compilers, with it
                os.killpg(self.pid, signal.SIGKILL)
            _, status, usage = os.wait4(self.pid, 0)
        outcome = Outcome(
            os.waitstatus_to_exitcode(status),
            time.monotonic() - self._began,
            usage.ru_maxrss / 1024,
            _read_all(self._out),
            _read_all(self._err),
            hung,
        )
        for descriptor in (self._handle, self._out, self._err):
            os.close(descriptor)
        self._handle = -1
        return outcome


def forked(
    work: Callable[[], int | None],
    *,
    seconds: float = LIMIT,
    stdin: bytes | int | None = b"",
    stdout: int | None = None,
    memory: int | None = None,
) -> Outcome:
    """Do some work in a process of its own, and wait for it."""
    with Child(work, stdin=stdin, stdout=stdout, memory=memory) as child:
        return child.wait(seconds)


def _in_memory(content: bytes) -> int:
    descriptor = os.memfd_create("stdin")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _read_all(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read(_MOST_READ)


def _live(work: Callable[[], int | None], stdin: int | None, out: int, err: int, memory: int | None) -> None:
    """The life of a child, from its first moment to its last; it begins and ends as the interpreter does."""
    code = 1
    try:
        os.setsid()
        _take_streams(stdin, out, err)
        if memory is not None:
            with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - nothing that might be changed
                size = int(file.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + memory, size + memory))
        code = _exit_code(work)
    finally:
        os._exit(code)


def _take_streams(stdin: int | None, out: int, err: int) -> None:
    os.dup2(out, 1)
    os.dup2(err, 2)
    if stdin is None:
        os.close(0)
    else:
        os.dup2(stdin, 0)
    sys.stdin = None if stdin is None else open(0, encoding="utf-8", errors="strict", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="strict", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115


def _exit_code(work: Callable[[], int | None]) -> int:
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        code = work() or 0
    except KeyboardInterrupt:  # of which the interpreter dies by the signal itself
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
        code = 1
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 0 if ending.code is None else 1
    except BaseException:  # noqa: BLE001 - as the interpreter does, whatever it is
        traceback.print_exc()
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return 120  # as the interpreter has it
    return code
