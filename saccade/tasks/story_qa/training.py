"""Questions about stories as a task of the training loop."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.base.counts import counted
from saccade.base.shuffling import Cursor, ShuffledIndices
from saccade.tasks.story_qa.arrays import StoryArrays, StoryWords, encode_stories, unknown_words
from saccade.tasks.story_qa.data import StorySplits
from saccade.tasks.story_qa.model import MemoryNetwork, recall_stories
from saccade.tasks.story_qa.recipe import StoryRecipe
from saccade.tasks.story_qa.settings import MemoryNetworkSettings
from saccade.training import Reporter, Task, count_parameters

_AT_ONCE = 256  # questions of validation


def _tell_what_is_lost(splits: StorySplits, words: StoryWords, memory_size: int, reporter: Reporter) -> None:
    """Say how many stories are longer than the memory, and what of the validation was never seen in training."""
    for name, part in splits._asdict().items():
        long = [one for one in part if len(one.story) > memory_size]
        if long:
            reporter.say(
                f"data.{name}: {len(long):,} of {len(part):,} questions come after more than"
                f" model.memory_size={memory_size} sentences, of which the first are forgotten; see {long[0].where}"
            )
    strange = [one for one in splits.valid if unknown_words(one, words, memory_size=memory_size)]
    if strange:
        first = ", ".join(unknown_words(strange[0], words, memory_size=memory_size)[:3])
        reporter.say(
            f"data.valid: {len(strange):,} of {len(splits.valid):,} questions have words that data.train has not, which"
            f" are passed over; see {strange[0].where}: {first}"
        )
    unheard = [one for one in splits.valid if not words.number(one.answer)]
    if unheard:
        reporter.say(
            f"data.valid: {len(unheard):,} of {len(splits.valid):,} answers are not in data.train, and count as wrong;"
            f" see {unheard[0].where}: {unheard[0].answer}"
        )


class StoryBatch(NamedTuple):
    """Questions, and whether it is too early for a softmax."""

    arrays: StoryArrays
    linear: bool


class StoryTask(Task[StoryBatch, MemoryNetwork]):
    """Stories with questions, a memory network, and how often it is right."""

    unit = "questions"

    def __init__(self, recipe: StoryRecipe, splits: StorySplits, run: Path, reporter: Reporter) -> None:
        self.recipe = recipe
        self.splits = splits
        words = StoryWords.learn(splits.train)
        torch.manual_seed(recipe.train.seed)
        self.model = MemoryNetwork.make(MemoryNetworkSettings(model=recipe.model), words)
        memory_size = recipe.model.memory_size
        self._train, self._valid = (encode_stories(part, words, memory_size=memory_size) for part in splits)
        self._indices = ShuffledIndices(len(splits.train), batch_size=recipe.train.batch_size, seed=recipe.train.seed)
        _tell_what_is_lost(splits, words, memory_size, reporter)
        reporter.say(
            f"{counted(len(splits.train), 'question')} to train on, {len(splits.valid):,} for validation;"
            f" {len(words) - 1:,} words; {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[StoryBatch, Cursor]]:
        for indices, after in self._indices.stream(cursor):
            yield StoryBatch(self._train.select(indices), after.epoch < self.recipe.train.linear_start), after

    def loss(self, batch: StoryBatch) -> tuple[Tensor, int]:
        self.model.net.linear.fill_(int(batch.linear))  # kept with the weights, which are of no use without it
        found = recall_stories(self.model.net, batch.arrays)
        answers = torch.from_numpy(batch.arrays.answers)
        # the first word is none, and never an answer
        smoothing = self.recipe.train.label_smoothing
        loss = F.cross_entropy(found.logits[:, 1:], answers - 1, reduction="sum", label_smoothing=smoothing)
        return loss, len(answers)

    def validate(self) -> dict[str, float]:
        """The cross entropy of an answer, and the percentage that is right. An answer never seen is always wrong."""
        total, right, known = 0.0, 0, 0
        for first in range(0, len(self.splits.valid), _AT_ONCE):
            part = self._valid.select(np.arange(first, min(first + _AT_ONCE, len(self.splits.valid))))
            logits = recall_stories(self.model.net, part).logits[:, 1:]
            answers = torch.from_numpy(part.answers) - 1  # -1: not a word of the training
            total += F.cross_entropy(logits, answers, reduction="sum", ignore_index=-1).item()
            right += int((logits.argmax(-1) == answers).sum())
            known += int((answers >= 0).sum())
        return {"loss": total / max(known, 1), "accuracy": 100 * right / len(self.splits.valid)}
