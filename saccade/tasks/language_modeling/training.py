"""Language modelling as a task of the training loop."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.base.errors import InputError
from saccade.base.order import Cursor, ShuffledIndices
from saccade.tasks.language_modeling.data import LanguageSplits, read_tokens
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.language_modeling.net import language_loss
from saccade.tasks.language_modeling.recipe import LanguageRecipe
from saccade.tasks.language_modeling.scoring import score_tokens
from saccade.tasks.language_modeling.settings import LanguageModelSettings
from saccade.text import UNKNOWN, VOCABULARY
from saccade.text.vocabularies.running import (
    RunningVocabulary,
    learn_running_vocabulary,
    load_running_vocabulary,
    running_vocabulary_path,
    save_running_vocabulary,
)
from saccade.training import Reporter, Task, count_parameters

_AT_ONCE = 64  # rows of validation


class LanguageTask(Task[NDArray[Any], LanguageModel]):
    """A running text, a language model, and how well it foresees a text that it does not know."""

    unit = "tokens"

    def __init__(self, recipe: LanguageRecipe, splits: LanguageSplits, run: Path, reporter: Reporter) -> None:
        """Learn the vocabulary, unless the folder `run` has it, and make the net."""
        self.recipe = recipe
        vocabulary = _vocabulary(recipe, splits, run / VOCABULARY, reporter)
        torch.manual_seed(recipe.train.seed)
        settings = LanguageModelSettings(model=recipe.model, vocabulary=recipe.vocabulary)
        self.model = LanguageModel.make(settings, vocabulary)
        self._train, self._valid = (read_tokens(part, vocabulary) for part in splits)
        self._valid_characters = len(splits.valid)
        length = recipe.model.max_length
        count = (len(self._train) - 1) // length  # so many rows there are wherever the first begins
        if count < 1:
            raise InputError(
                f"data: {len(self._train):,} tokens to learn from, wanted more than model.max_length={length}"
            )
        size = min(recipe.train.batch_size, count)
        self._indices = ShuffledIndices(count, batch_size=size, seed=recipe.train.seed)
        unknown = int((self._valid == UNKNOWN).sum())
        if unknown:
            reporter.say(f"data.valid: {unknown:,} tokens are not in the vocabulary, and the model cannot foresee them")
        reporter.say(
            f"{len(self._train):,} tokens to train on, {len(self._valid):,} for validation;"
            f" a vocabulary of {len(vocabulary):,}; {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[NDArray[Any], Cursor]]:
        """Rows `[B, T]`, one behind the other in the text; each epoch cuts it in other places."""
        length = self.recipe.model.max_length
        for indices, after in self._indices.stream(cursor):
            room = len(self._train) - self._indices.count * length
            first = np.random.default_rng([self.recipe.train.seed, after.epoch, 1]).integers(room)
            yield self._train[first + indices[:, None] * length + np.arange(length)], after

    def loss(self, batch: NDArray[Any]) -> tuple[Tensor, int]:
        return language_loss(self.model.net, batch, smoothing=self.recipe.train.label_smoothing), batch.size

    def validate(self) -> dict[str, float]:
        """The loss of a token in nats, and what it is in other units, on all of the text, in windows by themselves."""
        context = self.recipe.model.max_length
        (log_probs,) = score_tokens(self.model.net, [self._valid], context=context, sliding=False, batch_size=_AT_ONCE)
        nats = -float(log_probs.sum(dtype=np.float64))
        loss = nats / len(log_probs)
        bits = nats / math.log(2) / self._valid_characters
        return {"loss": loss, "perplexity": math.exp(min(loss, 700)), "bits_per_character": bits}


def _vocabulary(recipe: LanguageRecipe, splits: LanguageSplits, folder: Path, reporter: Reporter) -> RunningVocabulary:
    if running_vocabulary_path(recipe.vocabulary, folder).exists():
        return load_running_vocabulary(recipe.vocabulary, folder)
    vocabulary = learn_running_vocabulary(splits.train, recipe.vocabulary, reporter.say)
    save_running_vocabulary(vocabulary, recipe.vocabulary, folder)
    return vocabulary
