"""Captions as a task of the training loop."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, model_validator
from torch import Tensor

from saccade.data import (
    Batch,
    Batches,
    Captioned,
    Cursor,
    Example,
    Vocabulary,
    VocabularySettings,
    learn_vocabulary,
    load_vocabulary,
    vocabulary_path,
)
from saccade.errors import InputError
from saccade.files import make_folder
from saccade.metrics import caption_words, pointing_accuracy, score_captions
from saccade.models import (
    Caption,
    CaptionBatch,
    Captioner,
    CaptionerSettings,
    CaptionModel,
    CaptionRnnSettings,
    EyeSettings,
    Search,
    caption_loss,
    expect_caption_words,
)
from saccade.settings import Settings
from saccade.tasks.caption_data import CaptionDataSettings, CaptionSplits
from saccade.tasks.common import VOCABULARY, count_parameters, expect_watched
from saccade.tasks.image_rows import ImageRows
from saccade.train import Reporter, Task, TokenTrainSettings

FIGURES = ("bleu1", "bleu2", "bleu3", "bleu4", "rouge_l", "cider", "exact", "pointing", "loss")  # what validation gives


class CaptionTrainSettings(TokenTrainSettings):
    """Optimisation, validation, and what is kept."""

    watch: str = "cider"


class CaptionValidationSettings(Settings):
    """How a model is looked at while it is trained."""

    images: Annotated[int, Field(ge=1)] = 1000  # how many are captioned, at most; the loss takes all
    beam: Annotated[int, Field(ge=1, le=100)] = 1


class CaptionRecipe(Settings):
    """Everything that `saccade train` wants to know."""

    task: Literal["captions"]
    data: CaptionDataSettings
    vocabulary: VocabularySettings = VocabularySettings(kind="words")
    eye: EyeSettings
    model: CaptionModel
    train: CaptionTrainSettings = CaptionTrainSettings()
    validation: CaptionValidationSettings = CaptionValidationSettings()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        expect_caption_words(self.model, self.vocabulary)
        expect_watched(self.train, FIGURES)
        return self


class CaptionTask(Task[CaptionBatch]):
    """Captioned images, a captioner, and its scores on the validation images."""

    unit = "words"

    def __init__(self, recipe: CaptionRecipe, splits: CaptionSplits, run: Path, reporter: Reporter) -> None:
        """Learn the vocabulary, unless the folder `run` has it, make the net, and see every image once."""
        self.recipe = recipe
        vocabulary = _vocabulary(recipe, splits.train, run / VOCABULARY, reporter)
        torch.manual_seed(recipe.train.seed)
        settings = CaptionerSettings(eye=recipe.eye, model=recipe.model, vocabulary=recipe.vocabulary)
        self.captioner = Captioner.make(settings, vocabulary)
        self.net = self.captioner.net
        self._rows = ImageRows(self.captioner, recipe.data, splits, reporter)
        self.train_images = self._readable(splits.train, "train")
        self.valid_images = self._readable(splits.valid, "valid")
        self._examples = self._encode(self.train_images, "train", reporter)
        self._batches = Batches(self._examples, tokens=recipe.train.batch_tokens, seed=recipe.train.seed)
        valid_examples = self._encode(self.valid_images, "valid", reporter)
        self._valid_batches = Batches(valid_examples, tokens=recipe.train.batch_tokens, seed=0)
        reporter.say(
            f"{len(self.train_images):,} images with {len(self._examples):,} captions to train on,"
            f" {len(self.valid_images):,} images for validation; {len(vocabulary):,} words;"
            f" {count_parameters(self.net):,} parameters"
        )

    def batches(self, cursor: Cursor) -> Iterator[tuple[CaptionBatch, Cursor]]:
        for batch, after in self._batches.stream(cursor):
            yield self._with_images(batch), after

    def loss(self, batch: CaptionBatch) -> tuple[Tensor, int]:
        model = self.recipe.model
        extra = model.doubly_stochastic if isinstance(model, CaptionRnnSettings) else 0.0
        smoothing = self.recipe.train.label_smoothing
        return caption_loss(self.captioner.net, batch, smoothing=smoothing, doubly_stochastic=extra), batch.tokens

    def validate(self) -> dict[str, float]:
        """The loss of a word without smoothing, the scores of captions that the model wrote freely, and exact ones."""
        total, tokens = 0.0, 0
        for batch in self._valid_batches.one_epoch():
            total += caption_loss(
                self.captioner.net, self._with_images(batch), smoothing=0.0, doubly_stochastic=0.0
            ).item()
            tokens += batch.tokens
        images = self.valid_images[: self.recipe.validation.images]
        boxes = any(one.nouns for one in images)
        captions = self.captions_of(images, Search(beam=self.recipe.validation.beam), attention=boxes)
        found = [caption_words(caption.text) for caption in captions]
        references = [[caption_words(text) for text in one.captions] for one in images]
        figures = {"loss": total / tokens, **score_captions(found, references)}
        if boxes:
            figures["pointing"] = score_pointing(images, captions, side=self.recipe.eye.grid.side)
        return figures

    def captions_of(
        self, images: Sequence[Captioned], how: Search, *, attention: bool = False, batch: int = 64
    ) -> list[Caption]:
        """What the model says of images that have been seen."""
        captions: list[Caption] = []
        for first in range(0, len(images), batch):
            names = [one.image for one in images[first : first + batch]]
            captions.extend(self.captioner.caption_seen(self._rows.seen(names), names, how, attention=attention))
        return captions

    def pictures(self) -> dict[str, NDArray[np.float32]]:
        captions = self.captions_of(self.valid_images[:3], Search(beam=1), attention=True)
        maps = [caption.attention for caption in captions]
        return {
            str(number): weights.mean((0, 1)) for number, weights in enumerate(maps, start=1) if weights is not None
        }

    def save_model(self, folder: Path) -> None:
        self.captioner.save(folder)

    def _readable(self, images: list[Captioned], name: str) -> list[Captioned]:
        readable = [one for one in images if one.image in self._rows]
        if not readable:
            folder = self.recipe.data.images
            raise InputError(f"data.{name}: none of its images can be read; is data.images={folder} the right folder?")
        return readable

    def _encode(self, images: list[Captioned], name: str, reporter: Reporter) -> list[Example]:
        """For each caption, the row of its image and the numbers of its words; too long a caption is cut."""
        longest = self.recipe.model.longest
        examples: list[Example] = []
        cut: list[str] = []
        for one in images:
            for text in one.captions:
                *ids, end = self.captioner.vocabulary.encode(text).ids
                examples.append(Example([self._rows.place(one.image)], [*ids[: longest - 1], end]))
                if len(ids) >= longest:
                    cut.append(one.image)
        if cut:
            reporter.say(
                f"data.{name}: {len(cut):,} of {len(examples):,} captions are cut, for they are longer than"
                f" model.longest={longest}; the first is of {cut[0]}"
            )
        return examples

    def _with_images(self, batch: Batch) -> CaptionBatch:
        seen = self._rows.seen_at(batch.source[:, 0].tolist())
        return CaptionBatch(seen, batch.previous, batch.target, batch.tokens)


def _vocabulary(recipe: CaptionRecipe, images: list[Captioned], folder: Path, reporter: Reporter) -> Vocabulary:
    path = vocabulary_path(recipe.vocabulary, folder)
    if path.exists():
        return load_vocabulary(recipe.vocabulary, folder)
    texts = [text for one in images for text in one.captions]
    reporter.say(f"learning a vocabulary of {recipe.vocabulary.kind} from {len(texts):,} captions")
    vocabulary = learn_vocabulary(texts, recipe.vocabulary)
    make_folder(folder)
    vocabulary.save(path)
    return vocabulary


def score_pointing(images: Sequence[Captioned], captions: Sequence[Caption], *, side: int) -> float:
    """How often the peak of a noun's weights is in that noun's box, in percent, in captions that are exactly right."""
    looked = [
        (caption.attention.mean((0, 1))[noun.word], noun.box)
        for one, caption in zip(images, captions, strict=True)
        if caption.attention is not None and caption_words(caption.text) == caption_words(one.captions[0])
        for noun in one.nouns
        if noun.word < caption.attention.shape[2]
    ]
    return pointing_accuracy(looked, side=side)
