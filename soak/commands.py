"""Command lines of any words, in a folder full of files that are none of their business."""

import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from saccade.cli.main import main
from soak.command_lines import CommandLine, draw
from soak.nursery import LIMIT, Outcome, forked
from soak.report import Check, Clock, Options
from soak.sandbox import Tree, furnish, touched, tree_of
from soak.tiny import RECIPES, train_model, write_digits

_LIMIT_OF_TRAININGS = 60.0  # seconds
_MEMORY = 3 << 30  # bytes above what it begins with
_LINES = ("le 9 novembre 2026", "3 1 2", "in/digit.png", '{"story": ["Mary went."], "question": "Where is Mary?"}', "")


def run(options: Options, scratch: Path, *, command: Callable[[list[str]], int] = main) -> list[Check]:
    """So many command lines."""
    count, clock = options.cases(full=1000, quick=60), Clock(options.minutes)
    models = {task: train_model(recipe, scratch / "made" / task) for task, recipe in options.wanted(RECIPES).items()}
    write_digits(scratch / "digits")
    sandbox = _Sandbox(scratch / "sandbox", models)
    check, codes = Check("random command lines"), Counter[int]()
    for number in range(options.first, options.first + count):
        if clock.is_up():
            check.cut_short = True
            break
        rng = random.Random(f"{options.seed} commands {number}")
        line, stdin = draw(rng, folder=str(scratch)), _stdin(rng)
        outcome = _try(check, sandbox, line, stdin, _stdout(rng), command, f"case {number}")
        codes[outcome.code] += 1
        if check.cases % 100 == 0 or check.cases == count:
            ended = ", ".join(f"{number} with {code}" for code, number in sorted(codes.items()))
            print(f"{check.cases} command lines, {check.verdict}; {ended}", file=sys.stderr, flush=True)
    return [check]


class _Sandbox:
    """The folder that commands run in; it is made anew whenever one has changed something."""

    def __init__(self, folder: Path, models: dict[str, Path]) -> None:
        self.folder, self._models = folder, models
        self.before: Tree = {}
        self.make()

    def make(self) -> None:
        shutil.rmtree(os.fsencode(self.folder), ignore_errors=True)
        self.folder.mkdir()
        furnish(self.folder, self._models)
        self.before = tree_of(self.folder)


def _try(
    check: Check,
    sandbox: _Sandbox,
    line: CommandLine,
    stdin: bytes | None,
    stdout: str | None,
    command: Callable[[list[str]], int],
    case: str,
) -> Outcome:
    """One case."""

    def work() -> int:
        os.chdir(sandbox.folder)
        return command(line.words)

    training = line.words[:1] == ["train"]
    with _opened(stdout) as descriptor:
        limit = _LIMIT_OF_TRAININGS if training else LIMIT
        outcome = forked(work, seconds=limit, stdin=stdin, stdout=descriptor, memory=_MEMORY)
    after = tree_of(sandbox.folder)
    strays = touched(sandbox.folder, sandbox.before, after, line.named)
    check.cases += 1
    check.count(outcome)
    check.touched += len(strays)
    why = broken(outcome) + [f"touched: {name!a}" for name in strays]
    if why:
        shown = f"{case}: saccade {line.words!a} < {stdin!r}" + (f" > {stdout}" if stdout else "")
        check.breaks(shown, why, outcome)
    if after != sandbox.before:
        sandbox.make()
    return outcome


def _stdin(rng: random.Random) -> bytes | None:
    kind = rng.choice(["closed", "empty", "bytes", "characters", "lines", "lines"])
    if kind == "closed":
        return None
    if kind == "bytes":
        return rng.randbytes(rng.randint(1, 2000))
    if kind == "characters":
        return "".join(
            chr(rng.choice([rng.randrange(0x300), rng.randrange(0xE000, 0x110000)])) for _ in range(200)
        ).encode()
    return "".join(f"{rng.choice(_LINES)}\n" for _ in range(5)).encode() if kind == "lines" else b""


def _stdout(rng: random.Random) -> str | None:
    return "/dev/full" if rng.random() < 0.05 else None


@contextmanager
def _opened(path: str | None) -> Iterator[int | None]:
    descriptor = None if path is None else os.open(path, os.O_WRONLY)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def broken(outcome: Outcome) -> list[str]:
    """The promises that the end of a command breaks."""
    if outcome.hung:
        return ["it hung"]
    why = [] if outcome.code in (0, 1, 2) else [f"exit code {outcome.code}, wanted 0, 1 or 2"]
    if outcome.traceback:
        why.append("a traceback")
    last = outcome.err.decode(errors="replace").removesuffix("\n").rpartition("\n")[2]
    if outcome.code and not last.startswith("saccade"):
        why.append(f"its last line does not begin with saccade: {last!a}")
    return why
