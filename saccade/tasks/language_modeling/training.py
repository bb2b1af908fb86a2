"""Language modelling as a task of the training loop."""

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from saccade.base.errors import InputError
from saccade.base.shuffling import Cursor
from saccade.nets import target_loss
from saccade.tasks.language_modeling.data import LanguageSplits
from saccade.tasks.language_modeling.model import LanguageModel
from saccade.tasks.language_modeling.recipe import METRICS, LanguageRecipe
from saccade.tasks.language_modeling.scoring import score_stream
from saccade.tasks.language_modeling.settings import LanguageModelSettings
from saccade.text import VOCABULARY
from saccade.text.corpus_tokens import corpus_tokens
from saccade.text.packed_rows import ROW_ORDERS, Rows
from saccade.text.token_arrays import TokenArrays, remove_other_arrays
from saccade.text.vocabularies.running import RunningText, RunningVocabulary, running_vocabulary_of
from saccade.training import Reporter, Task, count_parameters, tell_unknown

TOKENS = "tokens"  # the folder of a run that has its text as numbers
_AT_ONCE = 64  # rows of validation
_LONG = 10_000_000  # characters, whose reading takes so long that one wants to see it go on


class LanguageTask(Task[Rows, LanguageModel]):
    """A running text, a language model, and how well it foresees a text that it does not know."""

    unit = "tokens"
    one_shape = True
    better_lower = METRICS

    def __init__(self, recipe: LanguageRecipe, splits: LanguageSplits, run: Path, reporter: Reporter) -> None:
        """Learn the vocabulary and write the text as numbers, unless the folder `run` has them, and make the net."""
        self.recipe = recipe
        vocabulary = running_vocabulary_of(splits.train, recipe.vocabulary, run / VOCABULARY, reporter.say)
        torch.manual_seed(recipe.train.seed)
        settings = LanguageModelSettings(model=recipe.model, vocabulary=recipe.vocabulary)
        self.model = LanguageModel.make(settings, vocabulary)
        arrays = [_tokens(part, vocabulary, run / TOKENS, reporter) for part in splits]
        remove_other_arrays(run / TOKENS, keep=arrays)
        self._train, self._valid = arrays
        train, valid, length = self._train.counts, self._valid.counts, recipe.model.max_length
        if train.tokens <= length:
            raise InputError(
                f"data: {train.tokens:,} tokens to learn from, wanted more than model.max_length={length};"
                " give more text, or choose a lower one"
            )
        rows = ROW_ORDERS[recipe.data.rows]
        self._rows = rows(
            self._train.tokens,
            context=length,
            batch_size=recipe.train.batch_size,
            seed=recipe.train.seed,
            documents=train.documents,
        )
        tell_unknown(recipe.train, reporter, unknown=train.unknown, tokens=train.tokens)
        if valid.unknown:
            reporter.say(
                f"data.valid: {valid.unknown:,} tokens are not in the vocabulary, and the model cannot foresee them"
            )
        reporter.say(
            f"{train.tokens:,} tokens to train on, {valid.tokens:,} for validation;"
            f" a vocabulary of {len(vocabulary):,}; {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[Rows, Cursor]]:
        """Rows, one behind the other in the text; each epoch cuts it in other places."""
        for batch in self._rows.stream(cursor):
            self._train.forget()
            yield batch

    def loss(self, batch: Rows) -> tuple[Tensor, int]:
        net = self.model.net
        smoothing = self.recipe.train.label_smoothing
        return target_loss(net, net(None, batch.inputs), batch.targets, smoothing=smoothing), batch.tokens

    def validate(self) -> dict[str, float]:
        """The loss of a token in nats, and what it is in other units, on all of the text, in windows by themselves."""
        nats, tokens = 0.0, 0
        context = self.recipe.model.max_length
        for score in score_stream(
            self.model.net, self._valid.tokens, context=context, sliding=False, batch_size=_AT_ONCE
        ):
            nats, tokens = nats - score.log_prob, tokens + score.tokens
            self._valid.forget()
        loss = nats / tokens
        bits = nats / math.log(2) / self._valid.counts.characters
        return {"loss": loss, "perplexity": math.exp(min(loss, 700)), "bits_per_character": bits}


def _tokens(text: RunningText, vocabulary: RunningVocabulary, folder: Path, reporter: Reporter) -> TokenArrays:
    if len(text) < _LONG:
        return corpus_tokens(text, vocabulary, folder, tell=reporter.say)
    count = partial(reporter.count, what="characters made into tokens")
    return corpus_tokens(text, vocabulary, folder, count=count, tell=reporter.say)
