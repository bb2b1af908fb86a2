"""Text classifiers are trained, broken off, and go on; they learn what they are made for."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import saccade
from saccade.base.errors import InputError
from saccade.base.shuffling import Cursor
from saccade.tasks.find_recipe import load_recipe
from saccade.tasks.text_classification.batches import LengthBatches
from saccade.tasks.text_classification.data import LabelledTexts, load_labelled_texts
from saccade.tasks.text_classification.labelled import LabelledText
from saccade.tasks.text_classification.made import make_reviews
from saccade.tasks.text_classification.recipe import TextClassificationRecipe
from saccade.tasks.text_classification.training import TextClassificationTask
from saccade.training import Callback, Silent

TRAIN = ["train.tensorboard=false", "train.threads=1"]
DATA = [*TRAIN, "data.texts=60", "data.validation_size=11", "train.batch_size=7"]
SMALL = [*DATA, "model.dim=8", "model.embedding=6"]


def task_of(*settings: str, data: LabelledTexts | None = None, run: Path) -> TextClassificationTask:
    recipe = load_recipe("labels", [*SMALL, *settings])
    assert isinstance(recipe, TextClassificationRecipe)
    return TextClassificationTask(recipe, load_labelled_texts(recipe.data) if data is None else data, run, Silent())


def test_an_epoch_has_every_text_once_in_batches_of_like_lengths() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 1000).tolist()
    batches = LengthBatches(lengths, batch_size=7, seed=3)
    for epoch in (0, 1):
        order = batches.order(epoch)
        assert Counter(index for batch in order for index in batch) == Counter(range(1000))
        assert max(map(len, order)) == 7
        padded = sum(max(lengths[index] for index in batch) * len(batch) for batch in order)
        assert padded < 1.2 * sum(lengths)
    assert batches.order(0) != batches.order(1)
    stream = batches.stream(Cursor())
    begun = [next(stream) for _ in range(len(batches.order(0)) + 3)]
    middle = len(batches.order(0)) - 2
    again = batches.stream(begun[middle - 1][1])
    assert [next(again) for _ in range(5)] == begun[middle:]


def test_validation_is_what_the_model_says(tmp_path: Path) -> None:
    task = task_of(run=tmp_path)
    task.net.eval()
    figures = task.validate()
    valid = load_labelled_texts(task.recipe.data).valid
    found = task.model.classify([one.text for one in valid])
    right = [one.label == wanted.label for one, wanted in zip(found, valid, strict=True)]
    assert figures["accuracy"] == pytest.approx(100 * np.mean(right))
    losses = [-np.log(one.probabilities[wanted.label]) for one, wanted in zip(found, valid, strict=True)]
    assert figures["loss"] == pytest.approx(np.mean(losses), rel=1e-4)


class Breaking(Callback):
    """Ends the process's training as an error would, without a word to anybody."""

    def __init__(self, at: int) -> None:
        self.at = at

    def on_step_end(self, step: int, loss: float, model: object) -> None:
        if step == self.at:
            raise RuntimeError("broken off")


@pytest.mark.parametrize("kind", ["rnn", "transformer", "cnn"])
def test_a_training_that_was_broken_off_ends_with_the_same_weights(kind: str, tmp_path: Path) -> None:
    small = {
        "rnn": ["model.score=dot", "model.layers=2", "model.embedding=6", "model.dim=8"],
        "transformer": ["model.kind=transformer", "model.causal=false", "model.dim=8"],
        "cnn": ["model.kind=cnn", "model.filters=5", "model.embedding=6"],
    }
    often = ["train.steps=25", "train.save_every=4", "train.validate_every=10", "train.warmup_steps=3"]
    settings = [*DATA, *small[kind], *often]
    wanted, broken = tmp_path / "wanted", tmp_path / "broken"
    saccade.train("labels", run=wanted, settings=settings, reporter=Silent())
    for step in (3, 18):
        with pytest.raises(RuntimeError, match="broken off"):
            saccade.train("labels", run=broken, settings=settings, reporter=Silent(), callbacks=[Breaking(step)])
    saccade.train("labels", run=broken, settings=settings, reporter=Silent())
    weights = Path("model") / "model.safetensors"
    assert (wanted / weights).read_bytes() == (broken / weights).read_bytes()


def test_it_learns_made_reviews(tmp_path: Path) -> None:
    sizes = ["model.embedding=32", "model.dim=32", "train.lr=1e-2", "train.steps=300", "train.validate_every=300"]
    model = saccade.train(
        "labels", saccade.TextClassifier, run=tmp_path / "run", settings=[*TRAIN, *sizes], reporter=Silent()
    )
    texts = make_reviews(500, seed="test 0")
    found = model.classify([one.text for one in texts])
    assert np.mean([one.label == wanted.label for one, wanted in zip(found, texts, strict=True)]) > 0.98


def test_texts_of_ones_own(tmp_path: Path) -> None:
    texts = [LabelledText(f"{word} {number}", word) for number in range(10) for word in ("yes", "no")]
    model = saccade.train(
        "labels",
        saccade.TextClassifier,
        run=tmp_path / "run",
        data=LabelledTexts(texts, texts[:5]),
        settings=[*SMALL, "train.steps=60", "train.lr=3e-2", "train.warmup_steps=5", "model.dropout=0"],
        reporter=Silent(),
    )
    assert model.settings.labels == ["no", "yes"]
    assert [one.label for one in model.classify(["yes 3", "no 3"])] == ["yes", "no"]
    refused: list[tuple[list[Any], str]] = [
        ([], r"^data: found no texts in train, wanted at least one$"),
        ([("yes 1", "yes")], r"^data: train, text 1: found \('yes 1', 'yes'\), wanted LabelledText\(text, label\)$"),
        ([LabelledText("yes 1", "no")], r"^data: all texts have the label 'no'; wanted at least two"),
    ]
    for given, message in refused:
        data = LabelledTexts(given, texts[1:2])
        with pytest.raises(InputError, match=message):
            saccade.train("labels", run=tmp_path / "refused", settings=SMALL, data=data, reporter=Silent())
    empty = LabelledTexts([*texts, LabelledText(" ", "yes")], texts)
    with pytest.raises(InputError, match=r"^data\.train, text 21: found nothing, wanted a text$"):
        task_of(data=empty, run=tmp_path / "other")
