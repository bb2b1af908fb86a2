"""Pointing at the inputs of a problem, in order, as a task of the training loop."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from saccade.base.counts import counted
from saccade.base.shuffling import Cursor, ShuffledIndices
from saccade.tasks.pointing.data import Making, PointingSplits, expect_fit
from saccade.tasks.pointing.metrics import score_orders
from saccade.tasks.pointing.model import PointerNetwork, PointerOutput
from saccade.tasks.pointing.problems import Problem, make_problems
from saccade.tasks.pointing.recipe import PointingRecipe
from saccade.tasks.pointing.settings import PointerSettings
from saccade.training import Reporter, Task, count_parameters

_AT_ONCE = 250  # problems of validation


class PointingBatch(NamedTuple):
    """Problems as a net wants them."""

    inputs: Tensor  # [B, n, C]
    lengths: Tensor  # [B]
    answers: list[list[int]]


class PointingTask(Task[PointingBatch, PointerNetwork]):
    """Problems, a pointer network, and how many it solves without a mistake."""

    unit = "problems"

    def __init__(self, recipe: PointingRecipe, splits: PointingSplits, run: Path, reporter: Reporter) -> None:
        self.recipe = recipe
        self.splits = splits
        torch.manual_seed(recipe.train.seed)
        if isinstance(splits.train, Making):
            settings = _settings_of_made(splits.train, recipe)
        else:
            settings = _settings_of(expect_fit(splits.train, recipe.model, "data.train"), recipe)
        self.model = PointerNetwork.make(settings)
        expect_fit(splits.valid, recipe.model, "data.valid")
        train = "new problems" if isinstance(splits.train, Making) else counted(len(splits.train), "problem")
        reporter.say(
            f"{train} to train on,"
            f" {len(splits.valid):,} for validation, of {settings.min_length} to {settings.max_length} inputs;"
            f" {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[PointingBatch, Cursor]]:
        train = self.splits.train
        stream = self._made(train, cursor) if isinstance(train, Making) else self._own(train, cursor)
        for problems, after in stream:
            yield self._batch(problems), after

    def _made(self, making: Making, cursor: Cursor) -> Iterator[tuple[list[Problem], Cursor]]:
        """New problems for every batch: a function of the seeds and of its number, so that none has to be kept."""
        problem, min_length, max_length, first = making
        train = self.recipe.train
        while True:
            seed = f"train {first} {train.seed} {cursor.batch}"
            made = make_problems(problem, train.batch_size, seed=seed, min_length=min_length, max_length=max_length)
            cursor = Cursor(cursor.epoch, cursor.batch + 1)
            yield made, cursor

    def _own(self, problems: list[Problem], cursor: Cursor) -> Iterator[tuple[list[Problem], Cursor]]:
        train = self.recipe.train
        for indices, after in ShuffledIndices(len(problems), batch_size=train.batch_size, seed=train.seed).stream(
            cursor
        ):
            yield [problems[index] for index in indices], after

    def loss(self, batch: PointingBatch) -> tuple[Tensor, int]:
        return self.model.net.loss(*batch), len(batch.answers)

    def validate(self) -> dict[str, float]:
        """The loss of a problem, the percentage that is exactly right, and how much of the hulls is covered."""
        valid, total = self.splits.valid, 0.0
        for first in range(0, len(valid), _AT_ONCE):
            total += self.model.net.loss(*self._batch(valid[first : first + _AT_ONCE])).item()
        found = [one.order for one in self._answers()]
        return {"loss": total / len(valid), **score_orders(valid, found, problem=self.model.settings.problem)}

    def _answers(self) -> list[PointerOutput]:
        return self.model.point([one.inputs for one in self.splits.valid], batch_size=_AT_ONCE)

    def _batch(self, problems: Sequence[Problem]) -> PointingBatch:
        inputs, lengths = self.model.collate([problem.inputs for problem in problems])
        return PointingBatch(inputs, lengths, [problem.answer for problem in problems])


def _settings_of_made(making: Making, recipe: PointingRecipe) -> PointerSettings:
    return PointerSettings(
        problem=making.problem,
        min_length=making.min_length,
        max_length=making.max_length,
        max_answer_length=making.max_length,
        model=recipe.model,
    )


def _settings_of(problems: Sequence[Problem], recipe: PointingRecipe) -> PointerSettings:
    """Of problems of the user's own."""
    sizes = [len(problem.inputs) for problem in problems]
    longest = max(len(problem.answer) for problem in problems)
    return PointerSettings(min_length=min(sizes), max_length=max(sizes), max_answer_length=longest, model=recipe.model)
