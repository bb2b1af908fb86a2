"""Classification of texts as a task of the training loop."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.base.counts import counted
from saccade.base.shuffling import Cursor
from saccade.tasks.text_classification.batches import LengthBatches
from saccade.tasks.text_classification.data import LabelledTexts
from saccade.tasks.text_classification.labelled import LabelledText
from saccade.tasks.text_classification.metrics import accuracy, confusion, macro_f1
from saccade.tasks.text_classification.model import Read, TextClassifier
from saccade.tasks.text_classification.recipe import TextClassificationRecipe
from saccade.tasks.text_classification.settings import TextClassifierSettings
from saccade.text import UNKNOWN, VOCABULARY, pad
from saccade.text.vocabularies.running import running_vocabulary_of
from saccade.training import Reporter, Task, count_parameters, tell_unknown

_AT_ONCE = 64  # texts of validation


class TextBatch(NamedTuple):
    """Texts as numbers, and what they are."""

    tokens: Tensor  # [B, T], a start first
    lengths: Tensor  # [B]
    labels: Tensor  # [B]


class TextClassificationTask(Task[TextBatch, TextClassifier]):
    """Texts with labels, a classifier, and how often it is right."""

    unit = "texts"

    def __init__(self, recipe: TextClassificationRecipe, splits: LabelledTexts, run: Path, reporter: Reporter) -> None:
        """Learn the vocabulary, unless the folder `run` has it, and make the net."""
        splits.expect_texts()
        self.recipe = recipe
        vocabulary = running_vocabulary_of(splits.corpus(), recipe.vocabulary, run / VOCABULARY, reporter.say)
        torch.manual_seed(recipe.train.seed)
        settings = TextClassifierSettings(model=recipe.model, vocabulary=recipe.vocabulary, labels=splits.labels)
        self.model = TextClassifier.make(settings, vocabulary)
        self._train, self._valid = (self._read(part, name) for name, part in splits._asdict().items())
        self._train_labels, self._valid_labels = (self._numbers(part) for part in splits)
        lengths = [len(one.ids) for one in self._train]
        self._batches = LengthBatches(lengths, batch_size=recipe.train.batch_size, seed=recipe.train.seed)
        unknown = sum(one.ids.count(UNKNOWN) for one in self._train)
        tell_unknown(recipe.train, reporter, unknown=unknown, tokens=sum(lengths))
        cut = [one for one in self._train if one.cut]
        if cut:
            reporter.say(f"{len(cut):,} texts are longer than model.max_length={recipe.model.max_length}: cut off")
        reporter.say(
            f"{counted(len(self._train), 'text')} to train on, {len(self._valid):,} for validation;"
            f" {len(settings.labels)} labels; a vocabulary of {len(vocabulary):,};"
            f" {count_parameters(self.net):,} parameters"
        )

    def _read(self, texts: Sequence[LabelledText], name: str) -> list[Read]:
        return [
            self.model.read(one.text, one.where or f"data.{name}, text {number}")
            for number, one in enumerate(texts, start=1)
        ]

    def _numbers(self, texts: Sequence[LabelledText]) -> list[int]:
        number = {label: index for index, label in enumerate(self.model.settings.labels)}
        return [number[one.label] for one in texts]

    def batches(self, cursor: Cursor) -> Iterator[tuple[TextBatch, Cursor]]:
        for indices, after in self._batches.stream(cursor):
            yield _batch(self._train, self._train_labels, indices), after

    def loss(self, batch: TextBatch) -> tuple[Tensor, int]:
        logits = self.model.net(batch.tokens, batch.lengths).logits
        smoothing = self.recipe.train.label_smoothing
        loss = F.cross_entropy(logits, batch.labels, reduction="sum", label_smoothing=smoothing)
        return loss, len(batch.labels)

    def validate(self) -> dict[str, float]:
        """The cross entropy of a text, the percentage that is right, and the mean F1 of the labels in percent."""
        order = np.argsort([len(one.ids) for one in self._valid], kind="stable").tolist()
        total, wanted, found = 0.0, list[int](), list[int]()
        for first in range(0, len(order), _AT_ONCE):
            batch = _batch(self._valid, self._valid_labels, order[first : first + _AT_ONCE])
            logits = self.model.net(batch.tokens, batch.lengths).logits
            total += F.cross_entropy(logits, batch.labels, reduction="sum").item()
            wanted += batch.labels.tolist()
            found += logits.argmax(-1).tolist()
        table = confusion(wanted, found, labels=len(self.model.settings.labels))
        return {"loss": total / len(order), "accuracy": accuracy(table), "macro_f1": macro_f1(table)}


def _batch(texts: Sequence[Read], labels: Sequence[int], indices: Sequence[int]) -> TextBatch:
    rows = [texts[index].ids for index in indices]
    return TextBatch(
        pad(rows), torch.tensor([len(row) for row in rows]), torch.tensor([labels[one] for one in indices])
    )
