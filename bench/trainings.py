"""Many trainings for one comparison: each is a case with a line in a journal, and what was begun goes on.

A case is a named tuple. `DIR/journal.jsonl` has a line for each that is done, with its fields in it; when the same
command is run again, those are left out, and a training that was broken off goes on from its last checkpoint.
"""

import argparse
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from saccade.base.errors import InputError
from saccade.base.files import make_folder, read_lines


class Trainings:
    """Runs `saccade` within a folder for so many minutes; what is still under way then is interrupted, and saved."""

    def __init__(self, out: Path, minutes: float) -> None:
        self.out = out.resolve()
        make_folder(self.out)
        self._end = time.monotonic() + 60 * minutes
        self._journal, self._lock = self.out / "journal.jsonl", threading.Lock()

    def saccade(self, name: str, *arguments: str) -> None:
        """`saccade ARGUMENTS`, with what it says in DIR/NAME.log."""
        log = self.out / f"{name}.log"
        command = [sys.executable, "-m", "saccade", *arguments]
        with (
            log.open("ab") as file,
            subprocess.Popen(command, stdout=file, stderr=file) as process,  # noqa: S603
        ):
            try:
                code = process.wait(max(self._end - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                process.wait()
                raise InputError(f"the time is over in the midst of {name}; run the same command to go on") from None
        if code:
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise InputError(f"saccade {arguments[0]} ended with code {code}: {' '.join(last)}; more in {log}")

    def lines(self) -> list[dict[str, Any]]:
        """The journal: what is done."""
        return [json.loads(line) for line in read_lines(self._journal)] if self._journal.exists() else []

    def measure(
        self, cases: Sequence[NamedTuple], measure: Callable[[Any], dict[str, Any]], *, at_once: int = 1
    ) -> None:
        """A line in the journal for each case that has none yet: its fields, and what `measure` says of it."""
        lines = self.lines()

        def is_done(case: NamedTuple) -> bool:
            return any(case._asdict().items() <= line.items() for line in lines)

        def settle(case: NamedTuple) -> None:
            line = json.dumps({**case._asdict(), **measure(case)})
            with self._lock, self._journal.open("a", encoding="utf-8") as journal:
                journal.write(f"{line}\n")
            print(line, flush=True)

        with ThreadPoolExecutor(at_once) as pool:
            tasks = [pool.submit(settle, case) for case in cases if not is_done(case)]
            try:
                for task in tasks:
                    task.result()
            except InputError:
                pool.shutdown(cancel_futures=True)
                raise


@contextmanager
def trainings_in(out: Path, minutes: float) -> Iterator[Trainings]:
    """The trainings of a command, which ends with one line when something is wrong, or the time is over."""
    try:
        yield Trainings(out, minutes)
    except InputError as error:
        sys.exit(str(error))


def journal_of(run: Path) -> list[dict[str, Any]]:
    """What a training wrote down of itself."""
    return [json.loads(line) for line in read_lines(run / "metrics.jsonl")]


def name_of(case: NamedTuple) -> str:
    """What a case's run is called."""
    return "-".join(map(str, case))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where, how long, how many at a time, and which seeds: what all comparisons ask."""
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="for runs, logs and journal.jsonl")
    parser.add_argument("--minutes", type=float, default=60, help="how long to go on at most (60)")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="trainings at the same time (1)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])


def schedule(steps: int, validations: int) -> list[str]:
    """How long, and how the rate goes up and down; the same for all trainings."""
    return [
        f"train.steps={steps}",
        "train.schedule=cosine",
        f"train.warmup_steps={max(steps // 10, 1)}",
        f"train.validate_every={max(steps // validations, 1)}",
        "train.select_checkpoint=best",
        "train.patience=null",
    ]
