"""Small trainings, for tests that must really learn."""

import random
from pathlib import Path
from typing import Any

from saccade.base.settings import check_settings
from saccade.tasks.translation.data import Splits
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.tasks.translation.training import TranslationTask
from saccade.text import Pair
from saccade.training import Silent, train

LETTERS = "abcdefgh"


def reverse_pairs(count: int) -> list[Pair]:
    return _pairs(count, lambda letters: letters[::-1])


def sort_pairs(count: int) -> list[Pair]:
    return _pairs(count, sorted)


def _pairs(count: int, answer: Any) -> list[Pair]:
    """Sequences of two to five letters, no one twice, and what they are to become."""
    rng = random.Random(1)
    pairs: dict[str, str] = {}
    while len(pairs) < count:
        letters = rng.choices(LETTERS, k=rng.randint(2, 5))
        pairs[" ".join(letters)] = " ".join(answer(letters))
    return [Pair(*pair) for pair in pairs.items()]


def small_recipe(model: dict[str, Any], **settings: Any) -> TranslationRecipe:
    values = {
        "task": "translation",
        "data": {"make": "dates"},
        "vocabulary": {"kind": "words"},
        "model": model,
        "train": {
            "steps": 500,
            "batch_tokens": 512,
            "lr": 1e-2,
            "schedule": "cosine",
            "warmup_steps": 30,
            "label_smoothing": 0.0,
            "validate_every": 10_000,
            "save_every": 10_000,
            "select_checkpoint": "last",
            "monitor": "exact_match",
            "tensorboard": False,
            **settings,
        },
        "validation": {"sentences": 500},
    }
    return check_settings(TranslationRecipe, values, where="small")


def learn(recipe: TranslationRecipe, pairs: list[Pair], folder: Path) -> dict[str, float]:
    """Train on all pairs but the last 500, and give the figures for those."""
    splits = Splits(pairs[:-500], pairs[-500:])
    return train(TranslationTask(recipe, splits, folder, Silent()), recipe.train, folder, Silent())
