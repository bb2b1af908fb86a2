"""Every recipe of the package is valid, says all that it should, and runs."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from saccade.data import Dates, write_pairs
from saccade.errors import InputError
from saccade.models import RnnSettings, TransformerSettings
from saccade.settings import Settings
from saccade.tasks import TranslationRecipe, load_recipe, recipe_names, recipe_summary, recipe_text, start_training
from saccade.train import Silent

every_recipe = pytest.mark.parametrize("name", recipe_names())


def test_there_are_recipes() -> None:
    assert {"dates", "numbers", "rnn", "transformer"} <= set(recipe_names())


@every_recipe
def test_it_is_valid_and_says_what_it_is_for(name: str) -> None:
    assert isinstance(load_recipe(name), TranslationRecipe)
    assert len(recipe_summary(name)) > 30


@every_recipe
def test_it_runs(name: str, tmp_path: Path) -> None:
    """Three steps of it, with a smaller net; what it says of data and vocabulary stays."""
    write_pairs(tmp_path / "pairs.tsv", [Dates(2).pair(n) for n in range(120)])
    settings = ["train.steps=3", "model.dim=8", "train.tensorboard=false", "data.hold_out=5"]
    recipe = load_recipe(name)
    if recipe.model.kind == "rnn":
        settings.append("model.embedding=8")
    if recipe.data.make is None:
        settings += [f"data.train={tmp_path / 'pairs.tsv'}", "data.valid=null", "vocabulary.size=300"]
    else:
        settings.append("data.pairs=150")
    figures = start_training(load_recipe(name, settings), tmp_path / "run", Silent())
    assert figures.keys() == {"loss", "bleu", "chrf", "exact"}
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file()


def names_in(values: dict[str, Any], prefix: str = "") -> set[str]:
    inner = {
        name for key, value in values.items() if isinstance(value, dict) for name in names_in(value, f"{prefix}{key}.")
    }
    return inner | {prefix + key for key, value in values.items() if not isinstance(value, dict)}


def all_names(group: type[Settings], prefix: str) -> set[str]:
    return {prefix + name for name in group.model_fields}


@pytest.mark.parametrize(("name", "model"), [("rnn", RnnSettings), ("transformer", TransformerSettings)])
def test_the_recipes_for_ones_own_files_show_every_setting(name: str, model: type[Settings]) -> None:
    """They are the reference: each setting stands there, with a comment. Those of made corpora do not belong there."""
    text = recipe_text(name)
    found = names_in(yaml.safe_load(text))
    fields = TranslationRecipe.model_fields
    for group in ("vocabulary", "train", "validation"):
        annotation = fields[group].annotation
        assert isinstance(annotation, type)
        assert all_names(annotation, f"{group}.") <= found
    assert all_names(model, "model.") <= found
    made = {"data.make", "data.pairs", "data.from_language", "data.to_language", "data.highest", "data.train"}
    assert all_names(load_recipe(name).data.__class__, "data.") - made <= found
    uncommented = [line for line in text.splitlines() if re.match(r" +\w+: \S", line) and "#" not in line]
    assert {line.split(":")[0].strip() for line in uncommented} <= {
        "source",
        "target",
        "kind",
        "target_column",
        "dim",
        "heads",
        "dropout",
        "weight_decay",
        "label_smoothing",
        "validate_every",
    }


def test_who_lacks_a_public_set_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match=r"data/multi30k/train\.en: no such file \(saccade data get multi30k brings it\)"
    ):
        start_training(load_recipe("multi30k-rnn"), tmp_path / "run", Silent())
