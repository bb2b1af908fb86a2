"""The problems that a pointer network learns from: the user's, or made ones."""

import json
from pathlib import Path
from typing import NamedTuple

from saccade.base.errors import InputError
from saccade.base.fingerprint import fingerprint
from saccade.tasks.pointing.files import read_problems
from saccade.tasks.pointing.problems import Problem, ProblemKind, make_problems
from saccade.tasks.pointing.recipe import PointingDataSettings
from saccade.tasks.pointing.settings import PointerModel


class Making(NamedTuple):
    """How problems are made, step by step."""

    problem: ProblemKind
    min_length: int
    max_length: int
    seed: int


class PointingSplits(NamedTuple):
    """Problems to learn from, or how they are made, and problems to validate with."""

    train: list[Problem] | Making
    valid: list[Problem]

    def fingerprint(self) -> str:
        """A short text that other problems do not have."""
        return fingerprint([json.dumps(self)])


def load_problem_splits(settings: PointingDataSettings, model: PointerModel) -> PointingSplits:
    """Read or make the problems; the user's own have to be such as the model can learn."""
    if settings.make is not None:
        valid = make_problems(
            settings.make,
            settings.validation_size,
            seed=f"valid {settings.seed}",
            min_length=settings.min_length,
            max_length=settings.max_length,
        )
        return PointingSplits(Making(settings.make, settings.min_length, settings.max_length, settings.seed), valid)
    return PointingSplits(_read(str(settings.train), model), _read(str(settings.valid), model))


def _read(name: str, model: PointerModel) -> list[Problem]:
    if not Path(name).is_file():
        raise InputError(f"{name}: no such file; say where your problems are: data.train=FILE data.valid=FILE")
    return expect_fit(read_problems(Path(name), distinct=model.mask_visited), model, name)


def expect_fit(problems: list[Problem], model: PointerModel, name: str) -> list[Problem]:
    """The same problems; such that the model cannot learn are an `InputError`."""
    size, most = len(problems[0].inputs[0]), max(len(problem.inputs) for problem in problems)
    if size != model.input_size:
        raise InputError(f"{name}: found inputs of {size} numbers each; set model.input_size={size}")
    if most >= model.max_length:
        raise InputError(f"{name}: found a problem of {most} inputs; set model.max_length={most + 1}, or leave it out")
    return problems
