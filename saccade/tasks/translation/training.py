"""Translation as a task of the training loop."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.base.files import make_folder
from saccade.base.shuffling import Cursor
from saccade.tasks.translation.data import Splits, locate
from saccade.tasks.translation.denoising import cut_overlong, damage_pairs, damaged_anew
from saccade.tasks.translation.model import Overlong, Translator
from saccade.tasks.translation.net import translation_loss
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.tasks.translation.scores import score_outputs
from saccade.tasks.translation.settings import TranslatorSettings
from saccade.text import (
    MASK,
    UNKNOWN,
    VOCABULARY,
    Batch,
    Batches,
    Example,
    Pair,
    Vocabularies,
    complete_vocabularies,
    have_vocabularies,
    learn_vocabulary,
    load_vocabularies,
    save_vocabularies,
    truncate_tokens,
)
from saccade.training import Reporter, Task, count_parameters, tell_unknown


class TranslationTask(Task[Batch, Translator]):
    """Sentence pairs, a translator, and its scores on the validation pairs.

    Of plain text, the pairs are damaged texts and what they were: the same anew each epoch, or once for validation.
    """

    unit = "tokens"

    def __init__(self, recipe: TranslationRecipe, splits: Splits, run: Path, reporter: Reporter) -> None:
        """Learn the vocabularies, unless the folder `run` has them, and make the net."""
        splits.expect_pairs()
        self.recipe = recipe
        vocabularies = _vocabularies(recipe, splits.train, run / VOCABULARY, reporter)
        torch.manual_seed(recipe.train.seed)
        settings = TranslatorSettings(purpose=recipe.purpose, model=recipe.model, vocabulary=recipe.vocabulary)
        self.model = Translator.make(settings, vocabularies)
        if recipe.data.text is not None:
            splits = self._prepare_texts(splits, reporter)
        pairs, self.examples = self._encode(splits.train, "train", reporter)
        self._answers = splits.answers
        self.valid, valid_examples = self._encode(splits.valid, "valid", reporter)
        self._batches = Batches(self._of_epoch(pairs), tokens=recipe.train.batch_tokens, seed=recipe.train.seed)
        self._valid_batches = Batches(valid_examples, tokens=recipe.train.batch_tokens, seed=0)
        sides = [ids for example in self.examples for ids in example[:2]]
        unknown = sum(ids.count(UNKNOWN) for ids in sides)
        tell_unknown(recipe.train, reporter, unknown=unknown, tokens=sum(map(len, sides)))
        what = "pair" if recipe.data.text is None else "text"
        reporter.say(
            f"{counted(len(self.examples), what)} to train on, {len(valid_examples):,} for validation;"
            f" vocabularies of {len(vocabularies.source):,} and {len(vocabularies.target):,};"
            f" {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[Batch, Cursor]]:
        return self._batches.stream(cursor)

    def loss(self, batch: Batch) -> tuple[Tensor, int]:
        train = self.recipe.train
        costs = {"smoothing": train.label_smoothing, "coverage": train.coverage_loss}
        return translation_loss(self.model.net, batch, **costs), batch.tokens

    def validate(self) -> dict[str, float]:
        """The loss of a token without smoothing, and the scores that are usual for what is written."""
        total, tokens = 0.0, 0
        for batch in self._valid_batches.one_epoch():
            total += translation_loss(self.model.net, batch).item()
            tokens += batch.tokens
        pairs = self.valid[: self.recipe.validation.sentences]
        outputs = self.model.translate(
            [pair.source for pair in pairs], beam=self.recipe.validation.beam, overlong=self._overlong
        )
        tidy = self.model.vocabularies.target.tidy  # in lower case, if the model writes nothing else
        rights = [[tidy(text) for text in self._answers.get(pair.source, (pair.target,))] for pair in pairs]
        scores = score_outputs(self.recipe.purpose, [output.text for output in outputs], rights)
        return {"loss": total / tokens, **{name: scores[name] for name in self.recipe.metrics() if name != "loss"}}

    @property
    def _overlong(self) -> Overlong:
        return "truncate" if self.recipe.data.truncate else "split"

    def attention_maps(self) -> dict[str, NDArray[np.float32]]:
        sources = [pair.source for pair in self.valid[:3]]
        translations = self.model.translate(sources, beam=1, attention=True, overlong=self._overlong)
        maps = [translation.attention for translation in translations]
        return {
            str(number): weights.mean((0, 1)) for number, weights in enumerate(maps, start=1) if weights is not None
        }

    def _prepare_texts(self, splits: Splits, reporter: Reporter) -> Splits:
        """Texts that the model can read, those for validation damaged once and for all."""
        vocabulary, data, max_length = self.model.vocabularies.source, self.recipe.data, self.recipe.model.max_length
        if not vocabulary.has_mask():
            raise InputError(f"the vocabulary has no {MASK}, which a model that restores text has to know; begin anew")
        train, valid = (
            cut_overlong(pairs, vocabulary, max_length=max_length, tell=reporter.say) for pairs in splits[:2]
        )
        seed = f"{data.seed} valid"
        return Splits(train, damage_pairs(valid, vocabulary, data.noise, max_length=max_length, seed=seed))

    def _of_epoch(self, pairs: list[Pair]) -> list[Example] | Callable[[int], list[Example]]:
        """The examples, or what gives those of an epoch."""
        if self.recipe.data.text is not None:
            limits = {"max_length": self.recipe.model.max_length, "seed": self.recipe.train.seed}
            vocabulary = self.model.vocabularies.source
            return damaged_anew(pairs, self.examples, vocabulary, self.recipe.data.noise, **limits)
        return self._cut_anew(pairs) if self.recipe.vocabulary.bpe_dropout else self.examples

    def _cut_anew(self, pairs: list[Pair]) -> Callable[[int], list[Example]]:
        """For each epoch, the pairs with their words cut otherwise; one that gets too long by it stays as it was."""
        seed, max_length = self.recipe.train.seed, self.recipe.model.max_length
        sample = self.model.vocabularies.sampler(rate=self.recipe.vocabulary.bpe_dropout, seed=seed)

        def examples(epoch: int) -> list[Example]:
            rng = random.Random(f"pieces {seed} {epoch}")
            cut = [Example(*sample(pair, rng)) for pair in pairs]
            return [
                new if max(map(len, new)) <= max_length else old for new, old in zip(cut, self.examples, strict=True)
            ]

        return examples

    def _encode(self, pairs: list[Pair], name: str, reporter: Reporter) -> tuple[list[Pair], list[Example]]:
        """The pairs and their numbers; those that are too long for the model are refused, or left out."""
        most, truncated = self.recipe.model.max_length, 0
        kept: list[Pair] = []
        overlong: list[Pair] = []
        examples: list[Example] = []
        for pair in pairs:
            source = self.model.reading.encode(pair.source)
            if self.recipe.data.truncate and len(source.ids) > most:
                truncated += 1
                source = truncate_tokens(source, most)
            example = Example(source.ids, self.model.writing(source).encode(pair.target).ids)
            longest = max(map(len, example))
            if longest <= most:
                kept.append(pair)
                examples.append(example)
            elif self.recipe.data.bad_pairs == "stop":
                raise InputError(
                    f"{locate(pair, self.recipe.data, self.recipe.purpose)} has {longest} tokens, more than"
                    f" model.max_length, which is {most}; raise that, or leave such pairs out with data.bad_pairs=skip"
                )
            else:
                overlong.append(pair)
        if not examples:
            raise InputError(f"data.{name}: every pair is longer than model.max_length={self.recipe.model.max_length}")
        if truncated:
            reporter.say(
                f"data.{name}: {truncated:,} of {len(pairs):,} sources are cut off, for they are longer than"
                f" model.max_length={most}"
            )
        if overlong:
            reporter.say(
                f"data.{name}: {len(overlong):,} of {len(pairs):,} pairs are left out, for they are longer than"
                f" model.max_length={self.recipe.model.max_length}; the first begins {overlong[0].source[:60]!r}"
            )
        return kept, examples


def _vocabularies(recipe: TranslationRecipe, pairs: list[Pair], folder: Path, reporter: Reporter) -> Vocabularies:
    if have_vocabularies(recipe.vocabulary, folder):
        return load_vocabularies(recipe.vocabulary, folder)
    if recipe.data.text is None:
        reporter.say(f"learning a vocabulary of {recipe.vocabulary.kind} from {counted(len(pairs), 'pair')}")
        complete_vocabularies(pairs, recipe.vocabulary, folder)
        return load_vocabularies(recipe.vocabulary, folder)
    reporter.say(f"learning a vocabulary of {recipe.vocabulary.kind} and {MASK} from {counted(len(pairs), 'text')}")
    both = learn_vocabulary([pair.target for pair in pairs], recipe.vocabulary, mask=True)
    vocabularies = Vocabularies(both, both)
    make_folder(folder)
    save_vocabularies(vocabularies, recipe.vocabulary, folder)
    return vocabularies
