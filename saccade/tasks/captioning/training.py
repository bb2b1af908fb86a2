"""Captions as a task of the training loop."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.base.counts import counted
from saccade.base.errors import InputError
from saccade.base.files import make_folder
from saccade.base.shuffling import Cursor
from saccade.decode import Search
from saccade.metrics import caption_words, score_captions
from saccade.tasks.captioning.data import CaptionSplits
from saccade.tasks.captioning.image_rows import ImageRows
from saccade.tasks.captioning.metrics import score_pointing_game
from saccade.tasks.captioning.model import Caption, Captioner
from saccade.tasks.captioning.net import CaptionBatch, caption_loss
from saccade.tasks.captioning.own_encoder import NAME as OWN
from saccade.tasks.captioning.own_encoder import named, own_encoder
from saccade.tasks.captioning.recipe import CaptionRecipe
from saccade.tasks.captioning.settings import (
    CaptionerSettings,
    CaptionRnnSettings,
)
from saccade.tasks.model import Modules
from saccade.text import (
    VOCABULARY,
    Batch,
    Batches,
    Example,
    Vocabulary,
    learn_vocabulary,
    load_vocabulary,
    vocabulary_path,
)
from saccade.training import Reporter, Task, count_parameters
from saccade.vision import CaptionedImage


class CaptionTask(Task[CaptionBatch, Captioner]):
    """Captioned images, a captioner, and its scores on the validation images."""

    unit = "words"

    def __init__(
        self,
        recipe: CaptionRecipe,
        splits: CaptionSplits,
        run: Path,
        reporter: Reporter,
        modules: Modules = MappingProxyType({}),
    ) -> None:
        """Learn the vocabulary, unless the folder `run` has it, make the net, and encode every image once."""
        self.recipe = recipe
        settings = CaptionerSettings(
            image_encoder=recipe.image_encoder, model=recipe.model, vocabulary=recipe.vocabulary
        )
        own = own_encoder(settings, modules, where="the recipe", remedy=f'saccade.train(..., modules={{"{OWN}": ...}})')
        settings = named(settings, own)
        vocabulary = _vocabulary(recipe, splits.train, run / VOCABULARY, reporter)
        torch.manual_seed(recipe.train.seed)
        self.model = Captioner.make(settings, vocabulary, own=own)
        self._rows = ImageRows(self.model, recipe.data, splits, reporter)
        self.train_images = self._readable(splits.train, "train")
        self.valid_images = self._readable(splits.valid, "valid")
        self._examples = self._encode(self.train_images, "train", reporter)
        self._batches = Batches(self._examples, tokens=recipe.train.batch_tokens, seed=recipe.train.seed)
        valid_examples = self._encode(self.valid_images, "valid", reporter)
        self._valid_batches = Batches(valid_examples, tokens=recipe.train.batch_tokens, seed=0)
        reporter.say(
            f"{counted(len(self.train_images), 'image')} with {counted(len(self._examples), 'caption')} to train on,"
            f" {counted(len(self.valid_images), 'image')} for validation; {len(vocabulary):,} words;"
            f" {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[CaptionBatch, Cursor]]:
        for batch, after in self._batches.stream(cursor):
            yield self._with_images(batch), after

    def loss(self, batch: CaptionBatch) -> tuple[Tensor, int]:
        model = self.recipe.model
        extra = model.doubly_stochastic if isinstance(model, CaptionRnnSettings) else 0.0
        smoothing = self.recipe.train.label_smoothing
        return caption_loss(self.model.net, batch, smoothing=smoothing, doubly_stochastic=extra), batch.tokens

    def validate(self) -> dict[str, float]:
        """The loss of a word without smoothing, the scores of captions that the model wrote freely, and exact ones."""
        total, tokens = 0.0, 0
        for batch in self._valid_batches.one_epoch():
            total += caption_loss(self.model.net, self._with_images(batch), smoothing=0.0, doubly_stochastic=0.0).item()
            tokens += batch.tokens
        images = self.valid_images[: self.recipe.validation.images]
        boxes = any(one.nouns for one in images)
        captions = self.captions_of(images, Search(beam=self.recipe.validation.beam), attention=boxes)
        found = [caption_words(caption.text) for caption in captions]
        references = [[caption_words(text) for text in one.captions] for one in images]
        figures = {"loss": total / tokens, **score_captions(found, references)}
        if boxes:
            figures["pointing_game"] = score_pointing_game(images, captions, side=self.recipe.image_encoder.grid.side)
        return figures

    def captions_of(
        self, images: Sequence[CaptionedImage], how: Search, *, attention: bool = False, batch_size: int = 64
    ) -> list[Caption]:
        """What the model says of images that have been encoded."""
        captions: list[Caption] = []
        for first in range(0, len(images), batch_size):
            names = [one.image for one in images[first : first + batch_size]]
            captions.extend(self.model.caption_encoded(self._rows.encoded(names), names, how, attention=attention))
        return captions

    def attention_maps(self) -> dict[str, NDArray[np.float32]]:
        captions = self.captions_of(self.valid_images[:3], Search(beam=1), attention=True)
        maps = [caption.attention for caption in captions]
        return {
            str(number): weights.mean((0, 1)) for number, weights in enumerate(maps, start=1) if weights is not None
        }

    def _readable(self, images: list[CaptionedImage], name: str) -> list[CaptionedImage]:
        readable = [one for one in images if one.image in self._rows]
        if not readable:
            folder = self.recipe.data.images
            raise InputError(f"data.{name}: none of its images can be read; is data.images={folder} the right folder?")
        return readable

    def _encode(self, images: list[CaptionedImage], name: str, reporter: Reporter) -> list[Example]:
        """For each caption, the row of its image and the numbers of its words; too long a caption is cut."""
        max_length = self.recipe.model.max_length
        examples: list[Example] = []
        cut: list[str] = []
        for one in images:
            for text in one.captions:
                *ids, end = self.model.vocabulary.encode(text).ids
                examples.append(Example([self._rows.index(one.image)], [*ids[: max_length - 1], end]))
                if len(ids) >= max_length:
                    cut.append(one.image)
        if cut:
            reporter.say(
                f"data.{name}: {len(cut):,} of {len(examples):,} captions are cut, for they are longer than"
                f" model.max_length={max_length}; the first is of {cut[0]}"
            )
        return examples

    def _with_images(self, batch: Batch) -> CaptionBatch:
        images = self._rows.encoded_at(batch.source[:, 0].tolist())
        return CaptionBatch(images, batch.previous, batch.target, batch.tokens)


def _vocabulary(recipe: CaptionRecipe, images: list[CaptionedImage], folder: Path, reporter: Reporter) -> Vocabulary:
    path = vocabulary_path(recipe.vocabulary, folder)
    if path.exists():
        return load_vocabulary(recipe.vocabulary, folder)
    texts = [text for one in images for text in one.captions]
    reporter.say(f"learning a vocabulary of {recipe.vocabulary.kind} from {counted(len(texts), 'caption')}")
    vocabulary = learn_vocabulary(texts, recipe.vocabulary)
    make_folder(folder)
    vocabulary.save(path)
    return vocabulary
