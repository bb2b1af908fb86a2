"""Pointing at the inputs of a problem, in order, as a task of the training loop."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import torch
from pydantic import Field, model_validator
from torch import Tensor

from saccade.data import Cursor, Problem, ProblemKind, ShuffledPlaces, make_problems, read_problems
from saccade.errors import InputError
from saccade.metrics import covered_area, same_cycle
from saccade.models import Pointed, Pointer, PointerModel, PointerSettings
from saccade.settings import DataPath, Settings
from saccade.tasks.common import count_parameters, expect_watched
from saccade.train import Reporter, Task, TrainSettings
from saccade.train.settings import Count

FIGURES = ("exact", "loss")  # what validation gives
_AT_ONCE = 250  # problems of validation


class PointingDataSettings(Settings):
    """What is learnt from: problems that the package makes, new ones at every step, or the user's own."""

    make: ProblemKind | None = None  # sort: numbers, in ascending order; hull: points, and their convex hull
    fewest: Annotated[int, Field(ge=1, le=1000)] = 5  # inputs of a made problem
    most: Annotated[int, Field(ge=1, le=1000)] = 10
    hold_out: Annotated[int, Field(ge=1, le=1_000_000)] = 1000  # made problems for validation
    seed: int = 0  # of made problems
    train: DataPath | None = None  # in place of make: JSON lines, {"inputs": [[x, y], ...], "answer": [i, j, ...]}
    valid: DataPath | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.make is None) == (self.train is None) or (self.train is None) != (self.valid is None):
            raise ValueError("wanted either make, such as data.make=sort, or both train and valid, files of problems")
        if self.fewest > self.most:
            raise ValueError(f"fewest: found {self.fewest}, wanted at most {self.most}, which is most")
        return self


class PointingTrainSettings(TrainSettings):
    """Optimisation, validation, and what is kept."""

    batch: Count = 128  # problems in a batch
    watch: str = "exact"
    label_smoothing: Annotated[float, Field(ge=0, le=0)] = 0.0  # none: most places cannot be meant at all


class PointingRecipe(Settings):
    """Everything that `saccade train` wants to know."""

    task: Literal["pointing"]
    data: PointingDataSettings
    model: PointerModel
    train: PointingTrainSettings = PointingTrainSettings()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        expect_watched(self.train, FIGURES if self.data.make != "hull" else (*FIGURES, "area"))
        wanted = {"sort": 1, "hull": 2}.get(str(self.data.make), self.model.inputs)
        if self.model.inputs != wanted:
            raise ValueError(f"model.inputs: found {self.model.inputs}, wanted {wanted}, as data.make is")
        if self.data.make is not None and self.data.most >= self.model.longest:
            raise ValueError(f"data.most: found {self.data.most}, wanted less than {self.model.longest}, model.longest")
        return self


class PointingSplits(NamedTuple):
    """Problems to learn from, None where they are made step by step, and problems to validate with."""

    train: list[Problem] | None
    valid: list[Problem]
    made_by: tuple[str, int, int, int] | None = None  # kind, fewest, most and seed of those to learn from

    def fingerprint(self) -> str:
        """A short text that other problems do not have."""
        return hashlib.sha256(json.dumps(self).encode()).hexdigest()[:16]


def load_problem_splits(settings: PointingDataSettings, model: PointerModel) -> PointingSplits:
    """Read or make the problems; the user's own have to be such as the model can learn."""
    if settings.make is not None:
        valid = make_problems(
            settings.make,
            settings.hold_out,
            seed=f"valid {settings.seed}",
            fewest=settings.fewest,
            most=settings.most,
        )
        return PointingSplits(None, valid, (settings.make, settings.fewest, settings.most, settings.seed))
    return PointingSplits(_read(str(settings.train), model), _read(str(settings.valid), model))


def _read(name: str, model: PointerModel) -> list[Problem]:
    if not Path(name).is_file():
        raise InputError(f"{name}: no such file; say where your problems are: data.train=FILE data.valid=FILE")
    problems = read_problems(Path(name), once=model.once)
    size, most = len(problems[0].inputs[0]), max(len(problem.inputs) for problem in problems)
    if size != model.inputs:
        raise InputError(f"{name}: found inputs of {size} numbers each; set model.inputs={size}")
    if most >= model.longest:
        raise InputError(f"{name}: found a problem of {most} inputs; set model.longest={most + 1}, or leave it out")
    return problems


class PointingBatch(NamedTuple):
    """Problems as a net wants them."""

    inputs: Tensor  # [B, n, C]
    lengths: Tensor  # [B]
    answers: list[list[int]]


class PointingTask(Task[PointingBatch]):
    """Problems, a pointer network, and how many it solves without a mistake."""

    unit = "problems"

    def __init__(self, recipe: PointingRecipe, splits: PointingSplits, run: Path, reporter: Reporter) -> None:
        self.recipe = recipe
        self.splits = splits
        torch.manual_seed(recipe.train.seed)
        data, known = recipe.data, splits.train or splits.valid
        sizes = [len(problem.inputs) for problem in known]
        longest = data.most if data.make else max(len(problem.answer) for problem in known)
        fewest, most = (min(sizes), max(sizes)) if data.make is None else (data.fewest, data.most)
        self.pointer = Pointer.make(
            PointerSettings(problem=data.make, fewest=fewest, most=most, longest_answer=longest, model=recipe.model)
        )
        self.net = self.pointer.net
        reporter.say(
            f"{'new problems' if splits.train is None else f'{len(splits.train):,} problems'} to train on,"
            f" {len(splits.valid):,} for validation, of {fewest} to {most} inputs; {count_parameters(self.net):,}"
            " parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[PointingBatch, Cursor]]:
        stream = self._made(cursor) if self.splits.train is None else self._own(self.splits.train, cursor)
        for problems, after in stream:
            yield self._batch(problems), after

    def _made(self, cursor: Cursor) -> Iterator[tuple[list[Problem], Cursor]]:
        """New problems for every batch: a function of the seeds and of its number, so that none has to be kept."""
        data, train = self.recipe.data, self.recipe.train
        assert data.make is not None
        while True:
            seed = f"train {data.seed} {train.seed} {cursor.batch}"
            made = make_problems(data.make, train.batch, seed=seed, fewest=data.fewest, most=data.most)
            cursor = Cursor(cursor.epoch, cursor.batch + 1)
            yield made, cursor

    def _own(self, problems: list[Problem], cursor: Cursor) -> Iterator[tuple[list[Problem], Cursor]]:
        train = self.recipe.train
        for places, after in ShuffledPlaces(len(problems), batch=train.batch, seed=train.seed).stream(cursor):
            yield [problems[place] for place in places], after

    def loss(self, batch: PointingBatch) -> tuple[Tensor, int]:
        return self.pointer.net.loss(*batch), len(batch.answers)

    def validate(self) -> dict[str, float]:
        """The loss of a problem, the percentage that is exactly right, and how much of the hulls is covered."""
        valid, total = self.splits.valid, 0.0
        for first in range(0, len(valid), _AT_ONCE):
            total += self.pointer.net.loss(*self._batch(valid[first : first + _AT_ONCE])).item()
        found = [one.order for one in self._answers()]
        return {"loss": total / len(valid), **score_orders(valid, found, problem=self.recipe.data.make)}

    def _answers(self) -> list[Pointed]:
        return self.pointer.point([one.inputs for one in self.splits.valid], batch=_AT_ONCE, attention=False)

    def save_model(self, folder: Path) -> None:
        self.pointer.save(folder)

    def _batch(self, problems: Sequence[Problem]) -> PointingBatch:
        inputs, lengths = self.pointer.as_input([problem.inputs for problem in problems])
        return PointingBatch(inputs, lengths, [problem.answer for problem in problems])


def score_orders(
    problems: Sequence[Problem], found: Sequence[Sequence[int]], *, problem: ProblemKind | None
) -> dict[str, float]:
    """Percentages: how many orders are exactly right, and of hulls the area that is covered, on average.

    A hull is right wherever it begins.
    """
    pairs = list(zip(problems, found, strict=True))
    if problem != "hull":
        return {"exact": 100 * sum(list(order) == one.answer for one, order in pairs) / len(pairs)}
    return {
        "exact": 100 * sum(same_cycle(order, one.answer) for one, order in pairs) / len(pairs),
        "area": 100 * sum(covered_area(one.inputs, order, one.answer) for one, order in pairs) / len(pairs),
    }
