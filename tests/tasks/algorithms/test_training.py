"""Algorithms learnt from examples, as a task of the loop."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.base.shuffling import Cursor
from saccade.tasks.algorithms.kind import KIND
from saccade.tasks.algorithms.recipe import AlgorithmRecipe
from saccade.training import Silent, train


def recipe_of(kind: str = "ntm", **settings: Any) -> AlgorithmRecipe:
    sizes = {"locations": 8, "width": 6, "dim": 24} if kind == "ntm" else {"dim": 24, "layers": 1}
    usual = {"steps": 6, "batch_size": 8, "lr": 1e-2, "schedule": "constant", "warmup_steps": 0, "tensorboard": False}
    values = {
        "task": "algorithms",
        "data": {"make": "copy", "bits": 2, "min_length": 1, "max_length": 2},
        "model": {"kind": kind, **sizes},
        "train": usual | settings,
        "validation": {"sequences": 40, "length": 3},
    }
    return check_settings(AlgorithmRecipe, values, where="small")


def learn(recipe: AlgorithmRecipe, run: Path) -> dict[str, float]:
    return train(KIND.task(recipe, KIND.load_data(recipe, print), run, Silent()), recipe.train, run, Silent())


@pytest.mark.parametrize("kind", ["ntm", "lstm"])
def test_short_sequences_are_soon_copied(kind: str, tmp_path: Path):
    figures = learn(recipe_of(kind, steps=150, validate_every=150), tmp_path)
    assert figures["loss"] < 0.6  # bits a sequence, of 3 that a coin would cost
    assert figures["accuracy"] > 90
    assert set(figures) == {"loss", "accuracy", "accuracy_at_length"}


def test_a_training_that_was_cut_goes_on_as_if_it_had_not_been(tmp_path: Path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    learn(recipe_of(validate_every=3), whole)
    learn(recipe_of(validate_every=3, steps=3), cut)
    learn(recipe_of(validate_every=3), cut)
    name = "model/model.safetensors"
    assert (whole / name).read_bytes() == (cut / name).read_bytes()


def test_watching_what_is_not_measured_is_refused():
    with pytest.raises(InputError, match="bleu"):
        recipe_of(monitor="bleu")


def test_the_longest_length_grows(tmp_path: Path):
    recipe = recipe_of(curriculum_steps=100)
    recipe = recipe.model_copy(update={"data": recipe.data.model_copy(update={"max_length": 11})})
    stream = KIND.task(recipe, KIND.load_data(recipe, print), tmp_path, Silent()).batches(Cursor())
    lengths = [episodes.length for episodes, _ in islice(stream, 300)]
    assert max(lengths[:10]) <= 2
    assert max(lengths[:50]) <= 6
    assert max(lengths[100:]) == 11
    assert min(lengths[100:]) == 1
