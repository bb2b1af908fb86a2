"""`saccade`: the way into all commands."""

import argparse
import contextlib
import errno
import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from saccade import __version__
from saccade.base.errors import InputError, Stopped, one_line
from saccade.console.parser import Parser, speak_utf8
from saccade.tasks import commands

# Each command is a module with `add_arguments(parser)`: these of this room, and those of the tasks. Only the one that
# is asked for is imported: torch takes seconds, and `saccade --help` should not.
SHARED = {
    "train": "train a model as a recipe says, or go on with a training that was broken off",
    "evaluate": "run a model on a test set and score the result",
    "look": "show what a model looks at: in the terminal, as a figure, as a page",
    "recipe": "list, show and copy the recipes of the package",
    "data": "make a corpus with exact answers, or get a public one",
    "show": "show an idea behind attention, computed as you look",
    "doctor": "say what this machine offers, and what of it is in use",
}

_WITH_COMMANDS = ("recipe", "data")


def all_commands() -> dict[str, tuple[str, str]]:
    """The commands by name: the module of each, and what it does in a few words."""
    shared = {name: (f"saccade.cli.{name}", purpose) for name, purpose in SHARED.items()}
    return {"train": shared["train"], **commands(), **shared}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and give its exit code.

    0    done; also if whoever read the output has seen enough and gone
    1    done, but for some of the inputs, which were named on stderr
    2    bad input, or output that cannot be written: one line on stderr
    130  stopped by Ctrl-C, or in the same way by another signal
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _keep_streams_apart()
    with contextlib.redirect_stderr(_Patient(sys.stderr)):
        return _guarded(arguments)


def _guarded(arguments: list[str]) -> int:
    """Run the command; whatever goes wrong gets one line."""
    if sys.stdout is None:
        print("saccade: standard output is closed; send it to a file, or to /dev/null", file=sys.stderr)
        return 2
    try:
        speak_utf8()
        try:
            code = _run(arguments)
        except SystemExit:  # of --help, which may have no room either
            sys.stdout.flush()
            raise
        sys.stdout.flush()  # here, where a closed pipe is caught, and not as Python ends
    except (InputError, Stopped) as error:
        print(f"saccade: {error}", file=sys.stderr)
        _end_output()
        return error.code if isinstance(error, Stopped) else 2
    except BrokenPipeError:
        _forget_output()
        return 0
    except OSError as error:
        _forget_output()
        what = "the output" if error.filename is None else os.fsdecode(error.filename)
        print(f"saccade: {one_line(what[:200])}: {error.strerror or error}{_remedy(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("saccade: interrupted", file=sys.stderr)
        return 130
    return code


def _remedy(error: OSError) -> str:
    return "; make room" if error.errno == errno.ENOSPC else ""


def _run(arguments: list[str]) -> int:
    known = all_commands()
    if not arguments or arguments[0] not in known:
        _overview(arguments, known)
        return 0
    with _stopped_in_a_line() if arguments[0] == "train" else contextlib.nullcontext():
        with _uncollected():
            chosen = parse(arguments)
        return chosen.run(chosen) or 0


@contextlib.contextmanager
def _stopped_in_a_line() -> Iterator[None]:
    """A training hears SIGTERM as soon as it has begun; this is for the seconds before, in which torch is imported."""
    asked: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        asked.append(number)
        raise KeyboardInterrupt  # no Exception: whoever tries whether something can be imported would catch that

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, hear)
    try:
        yield
    except KeyboardInterrupt:
        if not asked:
            raise
        raise Stopped("stopped before the first step; there was nothing to save", asked[0]) from None
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Spare the garbage collector what is imported here: torch's half a million objects stay until the end.

    To go through them took a tenth of a second each time, of a second in which 2,000 sentences are translated.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if enabled:
            gc.enable()


def parser_of(name: str) -> Parser:
    """The parser of what may follow a command's name."""
    module = importlib.import_module(all_commands()[name][0])
    parser = Parser(prog=f"saccade {name}", description=(module.__doc__ or "").partition(": ")[2])
    module.add_arguments(parser)
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """What a command and its options mean; what they stand for is done by `chosen.run(chosen)`."""
    name, *rest = arguments
    parser = parser_of(name)
    # options may stand among words, but argparse cannot do that where there are commands within commands
    return (parser.parse_args if name in _WITH_COMMANDS else parser.parse_intermixed_args)(rest)


def _keep_streams_apart() -> None:
    """Where the shell closed a stream, open nothing in its place: or the first file that is written would be that."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end


class _Patient:
    """stderr, but what cannot be written there, as on a full disk, is let go: the answers are on stdout."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with self._letting_go():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._letting_go():
            self._stream.flush()

    @contextlib.contextmanager
    def _letting_go(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _end_output() -> None:
    """Write what waits to be written; if that fails, enough has been said already."""
    try:
        sys.stdout.flush()
    except OSError:
        _forget_output()


def _forget_output() -> None:
    """Let nothing more be written: Python would complain once more as it closes stdout."""
    with contextlib.suppress(OSError, ValueError):  # of tests, which have streams without a number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _overview(arguments: list[str], known: dict[str, tuple[str, str]]) -> None:
    """`saccade` by itself, `saccade --help`, `saccade --version`, and commands that there are not."""
    parser = Parser(prog="saccade", description="Attention models that you own.")
    parser.add_argument("--version", action="version", version=f"saccade {__version__}")
    listed = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (_, purpose) in known.items():
        listed.add_parser(name, help=purpose)
    parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
