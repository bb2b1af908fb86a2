"""`python -m soak`: hours of what users and machines do to a program, in minutes. See `--help`."""

import argparse
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from soak.report import Check, Options, table

# Each piece is a module with `run(options, scratch)`.
PIECES = {
    "kills": "trainings that are killed at any moment and go on to the same end",
    "folders": "models' folders that are damaged in any way",
    "commands": "command lines of any words, among files that are none of their business",
    "lines": "lines of any characters, and of any number",
}


def main() -> int:
    """Run the pieces that are wanted, and give 1 if a promise is broken, 0 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m soak", description="Try to break what saccade promises.")
    listed = "; ".join(f"{name}: {what}" for name, what in PIECES.items())
    parser.add_argument("pieces", nargs="*", metavar="PIECE", help=f"all, or some of: {listed}")
    parser.add_argument("--quick", action="store_true", help="a few cases of each")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another seed tries others (0)")
    parser.add_argument("--count", type=int, metavar="N", help="cases of each check, in folder of the usual number")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the first case, to see one again (0)")
    parser.add_argument("--task", action="append", default=[], metavar="TASK", help="of kills and folders, these only")
    parser.add_argument("--minutes", type=float, default=60.0, metavar="N", help="for each piece, at most (60)")
    chosen = parser.parse_args()
    unknown = sorted(set(chosen.pieces) - PIECES.keys())
    if unknown:
        parser.error(f"no such piece: {', '.join(unknown)}; there are {', '.join(PIECES)}")
    options = Options(chosen.seed, chosen.count, chosen.first, chosen.quick, chosen.minutes, tuple(chosen.task))
    _leave_nothing_behind()
    checks: list[Check] = []
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        scratch = Path(folder)
        settle(scratch)
        for name in PIECES:
            if not chosen.pieces or name in chosen.pieces:
                checks += _run(name, options, scratch / name)
    return conclude(checks)


def _leave_nothing_behind() -> None:
    """Let SIGTERM end this process by way of all that is to be cleared up, and its children as it ends any other."""
    owner = os.getpid()

    def hear(number: int, _frame: FrameType | None) -> None:
        if os.getpid() == owner:
            sys.exit(128 + number)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, hear)


def settle(scratch: Path) -> None:
    """Let all that the user's own folders are for go elsewhere; then import everything."""
    for name, folder in (("HOME", "home"), ("SACCADE_CACHE", "home/cache"), ("TMPDIR", "home/tmp")):
        (scratch / folder).mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(scratch / folder)
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR"):
        os.environ.pop(name, None)
    for name in ("http_proxy", "https_proxy"):  # nobody is there: what wants the network fails at once
        os.environ[name] = os.environ[name.upper()] = "http://127.0.0.1:9"
    os.environ["OMP_NUM_THREADS"] = "1"
    tempfile.tempdir = None
    from soak.nursery import warm_up  # noqa: PLC0415 - not before the folders are known

    warm_up()


def _run(name: str, options: Options, scratch: Path) -> list[Check]:
    print(f"{name}, with seed {options.seed}", file=sys.stderr, flush=True)
    began = time.monotonic()
    scratch.mkdir()
    try:
        return importlib.import_module(f"soak.{name}").run(options, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        print(f"{name}: {(time.monotonic() - began) / 60:.1f} minutes", file=sys.stderr, flush=True)


def conclude(checks: list[Check]) -> int:
    """Print the broken cases and the table; gives the exit code."""
    for check in checks:
        for story in check.stories:
            print(story, file=sys.stderr, flush=True)
        for kind, number in check.kinds.most_common():
            print(f"{check.name}: {number} times: {kind}", file=sys.stderr, flush=True)
    print(table(checks))
    return int(any(check.broken for check in checks))


if __name__ == "__main__":
    sys.exit(main())
