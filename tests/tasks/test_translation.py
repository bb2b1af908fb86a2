"""Translation as a task of the training loop."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from saccade.data import Pair
from saccade.tasks import Splits, TranslationRecipe, TranslationTask, load_recipe
from saccade.train import Silent


def test_a_model_that_writes_lower_case_is_validated_by_lower_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pairs = [Pair(f"A dog runs {n} miles", f"Ein Hund läuft {n} Meilen") for n in range(40)]
    settings = ["vocabulary.lower=true", "vocabulary.size=60", "model.dim=16", "model.embedding=16"]
    recipe = load_recipe("rnn", [*settings, "data.train=pairs.tsv", "data.valid=null"])
    assert isinstance(recipe, TranslationRecipe)
    task = TranslationTask(recipe, Splits(pairs[:30], pairs[30:]), tmp_path, Silent())
    (any_translation,) = task.translator.translate(["a dog"])
    target = {pair.source: pair.target for pair in pairs}

    def perfect(sources: list[str], **_: Any) -> list[Any]:
        return [replace(any_translation, text=target[source].lower()) for source in sources]

    monkeypatch.setattr(task.translator, "translate", perfect)
    task.net.eval()
    assert task.validate()["bleu"] == pytest.approx(100)
