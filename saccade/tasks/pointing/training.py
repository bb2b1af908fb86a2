"""Pointing at the inputs of a problem, in order, as a task of the training loop."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from saccade.base.order import Cursor, ShuffledIndices
from saccade.tasks.pointing.data import PointingSplits
from saccade.tasks.pointing.model import PointerNetwork, PointerOutput
from saccade.tasks.pointing.problems import Problem, make_problems
from saccade.tasks.pointing.recipe import PointingRecipe
from saccade.tasks.pointing.scores import score_orders
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
        data, known = recipe.data, splits.train or splits.valid
        sizes = [len(problem.inputs) for problem in known]
        max_answer = data.max_length if data.make else max(len(problem.answer) for problem in known)
        min_length, max_length = (min(sizes), max(sizes)) if data.make is None else (data.min_length, data.max_length)
        self.model = PointerNetwork.make(
            PointerSettings(
                problem=data.make,
                min_length=min_length,
                max_length=max_length,
                max_answer_length=max_answer,
                model=recipe.model,
            )
        )
        reporter.say(
            f"{'new problems' if splits.train is None else f'{len(splits.train):,} problems'} to train on,"
            f" {len(splits.valid):,} for validation, of {min_length} to {max_length} inputs;"
            f" {count_parameters(self.net):,} parameters"
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
            made = make_problems(
                data.make, train.batch_size, seed=seed, min_length=data.min_length, max_length=data.max_length
            )
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
        return {"loss": total / len(valid), **score_orders(valid, found, problem=self.recipe.data.make)}

    def _answers(self) -> list[PointerOutput]:
        return self.model.point([one.inputs for one in self.splits.valid], batch_size=_AT_ONCE)

    def _batch(self, problems: Sequence[Problem]) -> PointingBatch:
        inputs, lengths = self.model.collate([problem.inputs for problem in problems])
        return PointingBatch(inputs, lengths, [problem.answer for problem in problems])
