"""Learning an algorithm from examples as a task of the training loop."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.base.fingerprint import fingerprint
from saccade.base.shuffling import Cursor
from saccade.metrics import score_bits
from saccade.tasks.algorithms.model import NeuralTuringMachine
from saccade.tasks.algorithms.problems import AlgorithmSettings, Episodes, make_episodes
from saccade.tasks.algorithms.recipe import AlgorithmRecipe
from saccade.tasks.algorithms.settings import NeuralTuringMachineSettings
from saccade.training import Reporter, Task, count_parameters

_LONGER = 64  # sequences; a machine that goes astray on rare inputs should not pass by luck


class AlgorithmSplits(NamedTuple):
    """There is nothing to read: each batch is made from its number."""

    settings: AlgorithmSettings

    def fingerprint(self) -> str:
        """A short text that other problems do not have."""
        return fingerprint([self.settings.model_dump_json()])


class AlgorithmTask(Task[Episodes, NeuralTuringMachine]):
    """Problems of one kind, a machine, and how many bits it gets right."""

    unit = "sequences"

    def __init__(self, recipe: AlgorithmRecipe, splits: AlgorithmSplits, run: Path, reporter: Reporter) -> None:
        self.recipe = recipe
        torch.manual_seed(recipe.train.seed)
        self.model = NeuralTuringMachine.make(NeuralTuringMachineSettings(model=recipe.model, data=splits.settings))
        data, validation = splits.settings, recipe.validation
        rounds = math.ceil(validation.sequences / recipe.train.batch_size)
        self._valid = [make_episodes(data, recipe.train.batch_size, seed=f"valid {number}") for number in range(rounds)]
        self._longer = (
            None if validation.length is None else make_episodes(data, _LONGER, seed="longer", length=validation.length)
        )
        reporter.say(
            f"{data.make}: {'{:,} to {:,}'.format(*data.channels())} numbers a step, length {data.min_length} to"
            f" {data.max_length}; {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[Episodes, Cursor]]:
        data, train, number = self.recipe.data, self.recipe.train, cursor.batch
        while True:
            seed = f"train {train.seed} {number}"
            number += 1
            share = min(1.0, number / train.curriculum_steps) if train.curriculum_steps else 1.0
            yield make_episodes(data, train.batch_size, seed=seed, share=share), Cursor(0, number)

    def loss(self, batch: Episodes) -> tuple[Tensor, int]:
        """The cross entropy of the bits that count, in bits; its mean is that of a sequence."""
        logits, _ = self.model.net(torch.from_numpy(batch.inputs))
        counted = torch.from_numpy(batch.scored)
        targets = torch.from_numpy(batch.targets)
        loss = F.binary_cross_entropy_with_logits(logits[:, counted], targets[:, counted], reduction="sum")
        return loss / math.log(2), len(batch.inputs)

    def validate(self) -> dict[str, float]:
        """Bits a sequence, and the percentage of bits that are right: as in training, and of the longer sequences."""
        scores = [score_bits(*self.model.answers(episodes)) for episodes in self._valid]
        figures = {
            "loss": float(np.mean([score.bits for score in scores])),
            "accuracy": 100 - float(np.mean([score.wrong for score in scores])),
        }
        if self._longer is not None:
            figures["accuracy_at_length"] = 100 - score_bits(*self.model.answers(self._longer)).wrong
        return figures
