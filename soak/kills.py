"""Trainings that are killed, at random moments and at every operation on a file, and go on to the same end."""

import json
import random
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import safetensors.torch

import saccade
from saccade.base.errors import InputError
from saccade.base.files import is_leftover
from saccade.cli.main import main
from saccade.training import read_journal
from soak.nursery import Child, Outcome, forked
from soak.operations import Operations
from soak.report import Check, Clock, Options
from soak.tiny import RECIPES, STEPS, answers, training

_LIMIT = 60.0  # seconds for a training
_STOPS = {signal.SIGINT: 130, signal.SIGTERM: 143}
_NO_MODEL = "this training has no model yet"
_FILES = ("model/model.safetensors", "best.safetensors")
_CHECKPOINT = "checkpoint.safetensors"


def run(options: Options, scratch: Path) -> list[Check]:
    """All four ways to end a training, for each task."""
    clock = Clock(options.minutes)
    kills = options.cases(full=100, quick=14)
    checks: list[Check] = []
    recipes = options.wanted(RECIPES)
    for number, (task, recipe) in enumerate(recipes.items()):
        training_of = _Training(recipe, scratch / task)
        share = len(range(number, kills, len(recipes)))
        done = [
            _random_kills(training_of, task, share, options, clock),
            _kills_at_every_operation(training_of, task, options, clock),
            _stops(training_of, task, share, options, clock),
        ]
        checks += done
        for check in done:
            print(f"{check.name}: {check.cases} cases, {check.verdict}", file=sys.stderr, flush=True)
    return checks


class _Training:
    """A training, the folder that it is disturbed in, and how it ends if it is not."""

    def __init__(self, recipe: tuple[str, ...], scratch: Path) -> None:
        self.folder = scratch / "disturbed"
        self.run = self.folder / "run"
        self._recipe = recipe
        undisturbed = forked(_train(training(recipe, scratch / "undisturbed")), seconds=_LIMIT)
        if undisturbed.code:
            raise InputError(f"{recipe[0]} cannot be trained: {undisturbed.err.decode(errors='replace')}")
        self.seconds = undisturbed.seconds
        self._ends_with = forked(lambda: _print_end(scratch / "undisturbed" / "run")).out

    @property
    def command(self) -> list[str]:
        return training(self._recipe, self.folder)

    def forget(self) -> None:
        """Let nothing be there."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def go_on(self, check: Check) -> tuple[Outcome, list[str]]:
        """Undisturbed from where it is; the second of what it gives are the promises that its end breaks."""
        outcome = forked(_train(self.command), seconds=_LIMIT)
        check.count(outcome)
        if outcome.hung or outcome.code:
            return outcome, [f"it does not go on: exit code {outcome.code}"]
        why = [f"left behind: {path}" for path in self.folder.rglob("*") if is_leftover(path.name)]
        ends_with = forked(lambda: _print_end(self.run)).out
        if ends_with != self._ends_with:
            why.append(f"another end: {_difference(ends_with, self._ends_with)}")
        return outcome, why


def _train(command: list[str]) -> Callable[[], int]:
    return lambda: main(command)


def _print_end(run: Path) -> None:
    """What a finished training leaves, as far as it has to be the same, on standard output."""
    files = {name: (run / name).read_bytes().hex() for name in _FILES}
    tensors = {name: tensor.tolist() for name, tensor in safetensors.torch.load_file(run / _CHECKPOINT).items()}
    journal = [
        {name: value for name, value in record.items() if name not in {"seconds", "rate"}}
        for record in read_journal(run / "metrics.jsonl")
    ]
    print(json.dumps({**files, _CHECKPOINT: sorted(tensors.items()), "metrics.jsonl": journal}))


def _difference(one: bytes, other: bytes) -> str:
    if not one or not other:
        return "there is none"
    ours, theirs = json.loads(one), json.loads(other)
    return ", ".join(name for name in theirs if ours.get(name) != theirs[name])


def _random_kills(training_of: _Training, task: str, kills: int, options: Options, clock: Clock) -> Check:
    """So many kills; a training that has finished before all of them begins anew."""
    check = Check(f"killed at random moments: {task}")
    rng = random.Random(f"{options.seed} kills {task}")
    training_of.forget()
    moments: list[str] = []
    while check.cases < kills and not clock.is_up():
        moment = rng.uniform(0.0, 1.1 * training_of.seconds)
        with Child(_train(training_of.command)) as child:
            killed = not child.ends_within(moment)
            child.signal(signal.SIGKILL)
            outcome = child.wait(_LIMIT)
        check.count(outcome)
        moments.append(f"{moment:.3f}")
        check.cases += killed
        why = [] if killed else _unfinished(outcome)
        why += _loadable(check, training_of.run)
        done = not killed or check.cases == kills
        if done:
            outcome, more = training_of.go_on(check)
            why += more
        if why:
            check.breaks(f"{_shown(training_of)}, killed after {', '.join(moments)} s", why, outcome)
        if done or why:
            training_of.forget()
            moments = []
    check.cut_short = check.cases < kills
    return check


def _unfinished(outcome: Outcome) -> list[str]:
    return [f"it ended by itself with {outcome.code}"] if outcome.code else []


def _kills_at_every_operation(training_of: _Training, task: str, options: Options, clock: Clock) -> Check:
    """Kill before the first operation, in the next training before the second, and so on, until one finishes."""
    check = Check(f"killed at every operation on a file: {task}")
    total = _operations(training_of)
    stride = max(1, total // max(1, options.cases(full=total, quick=8)))
    for number in range(options.first or 1, total + 1, stride):
        if clock.is_up():
            check.cut_short = True
            break
        _kill_at(training_of, number, check, random.Random(f"{options.seed} operations {task} {number}"))
        if check.cases % 50 == 0:
            print(f"{check.name}: {number} of {total}, {check.verdict}", file=sys.stderr, flush=True)
    return check


def _operations(training_of: _Training) -> int:
    """How many operations an undisturbed training takes."""

    def count() -> None:
        operations = Operations(training_of.folder)
        operations.watch()
        main(command)
        print(operations.done, file=sys.stdout)

    training_of.forget()
    command = training_of.command
    return int(forked(count, seconds=_LIMIT).out.split()[-1])


def _kill_at(training_of: _Training, number: int, check: Check, rng: random.Random) -> None:
    """One case: killed, and half the time killed once more as it goes on."""
    training_of.forget()
    kill_points = [number, *([rng.randint(1, number + 20)] if rng.random() < 0.5 else [])]
    why: list[str] = []
    for kill_point in kill_points:
        outcome = forked(_killed_at(training_of, kill_point), seconds=_LIMIT)
        check.count(outcome)
        if outcome.code not in (0, -signal.SIGKILL):
            why.append(f"it ended with {outcome.code} before operation {kill_point}")
        why += _loadable(check, training_of.run)
    outcome, more = training_of.go_on(check)
    why += more
    check.cases += 1
    if why:
        check.breaks(f"{_shown(training_of)}, killed before operations {kill_points}", why, outcome)


def _killed_at(training_of: _Training, number: int) -> Callable[[], int]:
    command = training_of.command

    def train() -> int:
        Operations(training_of.folder, kill_at=number).watch()
        return main(command)

    return train


def _loadable(check: Check, run: Path) -> list[str]:
    """The promises that the model of a run breaks: it can be used, or there is none yet."""
    if not (run / "run.json").exists():
        return []  # nothing was begun
    outcome = forked(lambda: _load(run))
    check.count(outcome)
    said = outcome.out.decode().strip()
    if outcome.code == 0 and (said == "loaded" or _NO_MODEL in said) and "\n" not in said:
        return []
    return [f"its model: {said or outcome.err.decode(errors='replace')}"]


def _load(run: Path) -> None:
    try:
        answers(saccade.load(run))
        print("loaded")
    except InputError as error:
        print(error)


def _stops(training_of: _Training, task: str, stops: int, options: Options, clock: Clock) -> Check:
    """Ctrl-C and SIGTERM: the step is finished and named, and a model is there."""
    check = Check(f"stopped by a signal: {task}")
    for number, how in _signals(stops, options.first):
        if clock.is_up():
            check.cut_short = True
            break
        rng = random.Random(f"{options.seed} stops {task} {number}")
        training_of.forget()
        moment = rng.uniform(0.0, 1.1 * training_of.seconds)
        with Child(_train(training_of.command)) as child:
            child.ends_within(moment)
            begun = (training_of.run / "metrics.jsonl").exists()
            child.signal(how)
            outcome = child.wait(_LIMIT)
        check.cases += 1
        check.count(outcome)
        why = stopped_badly(outcome, how, begun=begun, finished=_finished(training_of.run))
        why += _loadable(check, training_of.run)
        if f"stopped by {how.name} after step".encode() in outcome.err and not _has_model(training_of.run):
            why.append("it left no model")
        _, more = training_of.go_on(check)
        why += more
        if why:
            check.breaks(f"{_shown(training_of)}, {how.name} after {moment:.3f} s", why, outcome)
    return check


def _signals(count: int, first: int) -> Iterator[tuple[int, signal.Signals]]:
    for number in range(first, first + count):
        yield number, (signal.SIGINT, signal.SIGTERM)[number % 2]


def _has_model(run: Path) -> bool:
    return (run / "model" / "model.safetensors").exists()


def _finished(run: Path) -> bool:
    path = run / "metrics.jsonl"
    return path.exists() and any(record["step"] == STEPS for record in read_journal(path))


def stopped_badly(outcome: Outcome, how: signal.Signals, *, begun: bool, finished: bool) -> list[str]:
    """The promises that the end of a stopped training breaks.

    begun     the signal came when steps were being made, or after them
    finished  the last step was made; then it may have ended before the signal came, or stop at once
    """
    if outcome.code == 0 and finished:
        return []
    if not begun or finished:  # what is not a training, or no longer one, may die of a signal as anything does
        allowed = (_STOPS[how], -how)
        return [] if outcome.code in allowed and not outcome.traceback else [f"it ended with {outcome.code}"]
    last = outcome.err.decode(errors="replace").removesuffix("\n").rpartition("\n")[2]
    why = [] if outcome.code == _STOPS[how] else [f"exit code {outcome.code}, wanted {_STOPS[how]}"]
    named = f"stopped by {how.name} after step " in last or "before the first step" in last
    return why if named else [*why, f"its last line does not name the step: {last}"]


def _shown(training_of: _Training) -> str:
    return f"saccade {shlex.join(training_of.command)}"
