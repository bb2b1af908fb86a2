"""Every recipe of the package is valid, says all that it should, and runs."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from saccade.base.errors import InputError
from saccade.base.settings import Settings
from saccade.tasks.algorithms.recipe import AlgorithmRecipe
from saccade.tasks.captioning.recipe import CaptionRecipe
from saccade.tasks.captioning.settings import CaptionRnnSettings
from saccade.tasks.classification.recipe import ClassificationRecipe
from saccade.tasks.find_recipe import load_recipe, recipe_names, recipe_summary, recipe_text
from saccade.tasks.language_modeling.recipe import LanguageRecipe
from saccade.tasks.line_reading.recipe import LineRecipe
from saccade.tasks.pointing.recipe import PointingRecipe
from saccade.tasks.run import start_training
from saccade.tasks.story_qa.made import make_stories
from saccade.tasks.story_qa.recipe import StoryRecipe
from saccade.tasks.story_qa.stories import write_stories
from saccade.tasks.text_classification.recipe import TextClassificationRecipe
from saccade.tasks.translation.dates import Dates
from saccade.tasks.translation.recipe import TranslationRecipe
from saccade.tasks.translation.settings import RnnSettings, TransformerSettings
from saccade.text import NoiseSettings, write_pairs
from saccade.training import Recipe, Silent
from saccade.vision import make_scenes, write_scenes

every_recipe = pytest.mark.parametrize("name", recipe_names())


def test_there_are_recipes() -> None:
    assert {"dates", "numbers", "rnn", "transformer"} <= set(recipe_names())


@every_recipe
def test_it_is_valid_and_says_what_it_is_for(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.task == yaml.safe_load(recipe_text(name))["task"]
    assert len(recipe_summary(name)) > 30


@every_recipe
def test_it_runs(name: str, tmp_path: Path) -> None:
    """Three steps of it, with a smaller net; what it says of data and vocabulary stays."""
    recipe = load_recipe(name)
    held_out = ["data.validation_size=5"] if "validation_size" in recipe.model_dump()["data"] else []
    settings = ["train.steps=3", "train.tensorboard=false", *held_out, *smaller(recipe, tmp_path)]
    figures = start_training(load_recipe(name, settings), tmp_path / "run", Silent())
    assert len(figures) >= 2
    assert all(math.isfinite(value) for value in figures.values())
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file()


# For the tasks that want nothing else.
SMALLER: dict[type[Recipe[Any, Any]], list[str]] = {
    AlgorithmRecipe: ["model.dim=8", "train.batch_size=2", "validation.sequences=2", "validation.length=6"],
    LanguageRecipe: ["data.lines=40", "model.dim=8", "model.layers=1"],
    LineRecipe: ["data.lines=40", "model.dim=8", "train.batch_size=8"],
    PointingRecipe: ["model.dim=8", "train.batch_size=8"],
    TextClassificationRecipe: ["data.texts=40", "model.dim=8", "train.batch_size=8"],
    ClassificationRecipe: ["data.images=40", "train.batch_size=8"],
}


def smaller(recipe: Recipe[Any, Any], folder: Path) -> list[str]:
    """Settings with which a recipe takes little time, and with data where it wants some from elsewhere."""
    if not isinstance(recipe, CaptionRecipe | StoryRecipe | TranslationRecipe):
        return SMALLER.get(type(recipe), [])
    if isinstance(recipe, StoryRecipe):
        write_stories(folder / "qa1_made_train.txt", make_stories(20, seed=0))
        data = f"data.train={folder}" if recipe.data.make is None else "data.stories=20"
        return ["model.dim=8", "train.batch_size=8", data]
    settings = ["model.dim=8"]
    if recipe.model.kind == "rnn":
        settings.append("model.embedding=8")
    if isinstance(recipe, CaptionRecipe):
        settings += [f"data.cache={folder / 'cache'}", "train.batch_tokens=64"]
        if recipe.data.make is None:
            captions = write_scenes(make_scenes(20, seed=0, side=32), folder)
            data = [f"data.images={folder}", f"data.captions={captions}", "data.train=null", "data.valid=null"]
            return [*settings, *data, "vocabulary.min_frequency=1"]
        return [*settings, "data.scenes=40"]
    return [*settings, *small_corpus(recipe, folder)]


def small_corpus(recipe: TranslationRecipe, folder: Path) -> list[str]:
    if recipe.data.make is not None:
        return ["data.pairs=150"]
    pairs = [Dates(2).pair(n) for n in range(120)]
    if recipe.data.text is not None:
        (folder / "text.txt").write_text("".join(f"{pair.source}. Yes.\n" for pair in pairs))
        return [f"data.text={folder / 'text.txt'}", "vocabulary.size=300"]
    write_pairs(folder / "pairs.tsv", pairs)
    return [f"data.train={folder / 'pairs.tsv'}", "data.valid=null", "vocabulary.size=300"]


# Settings of plain text to restore, which the recipe for it shows.
TEXT = ("text", "valid_text", "names", "noise")


def names_in(values: dict[str, Any], prefix: str = "") -> set[str]:
    inner = {
        name for key, value in values.items() if isinstance(value, dict) for name in names_in(value, f"{prefix}{key}.")
    }
    return inner | {prefix + key for key, value in values.items() if not isinstance(value, dict)}


def all_names(group: type[Settings], prefix: str) -> set[str]:
    return {prefix + name for name in group.model_fields}


@pytest.mark.parametrize(
    ("name", "model"), [("rnn", RnnSettings), ("transformer", TransformerSettings), ("captions", CaptionRnnSettings)]
)
def test_the_recipes_for_ones_own_files_show_every_setting(name: str, model: type[Settings]) -> None:
    """They are the reference: each setting stands there, with a comment. Those of made corpora do not belong there."""
    text = recipe_text(name)
    found = names_in(yaml.safe_load(text))
    recipe = load_recipe(name)
    assert isinstance(recipe, CaptionRecipe | TranslationRecipe)
    fields = type(recipe).model_fields
    for group in ("vocabulary", "train", "validation"):
        annotation = fields[group].annotation
        assert isinstance(annotation, type)
        assert all_names(annotation, f"{group}.") <= found
    assert all_names(model, "model.") <= found
    made = {
        *(f"data.{name}" for name in TEXT),
        "data.make",
        "data.pairs",
        "data.from_language",
        "data.to_language",
        "data.max_number",
        "data.train",
        "data.scenes",
    }
    assert all_names(type(recipe.data), "data.") - made <= found
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


def test_the_recipe_for_plain_text_shows_all_that_is_about_text() -> None:
    data = yaml.safe_load(recipe_text("denoise"))["data"]
    assert set(TEXT) <= data.keys()
    assert data["noise"].keys() == NoiseSettings.model_fields.keys()


def test_who_lacks_a_public_set_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match=r"data/multi30k/train\.en: no such file \(saccade data get multi30k brings it\)"
    ):
        start_training(load_recipe("multi30k-rnn"), tmp_path / "run", Silent())


def test_another_kind_leaves_nothing_of_the_old_one() -> None:
    """But what is said in the same breath, if it is wrong, is still refused."""
    captions = ["data.images=a", "data.captions=b"]
    recipe = load_recipe("captions", [*captions, "image_encoder.kind=small", "model.kind=transformer", "model.heads=4"])
    assert isinstance(recipe, CaptionRecipe)
    assert recipe.image_encoder.kind == "small"
    assert recipe.model.kind == "transformer"
    with pytest.raises(InputError, match=r"image_encoder\.level: no such setting"):
        load_recipe("captions", [*captions, "image_encoder.kind=small", "image_encoder.level=top"])
    with pytest.raises(InputError, match=r"found 'tiny', wanted one of efficientnet-lite0, small"):
        load_recipe("captions", [*captions, "image_encoder.kind=tiny"])


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("classes", ["data.train=a"]),
        ("shapes", ["data.images=a", "data.captions=b"]),
        ("dates", ["data.train=a.tsv"]),
        ("gpt", ["data.text=a"]),
    ],
)
def test_own_data_takes_the_place_of_made_data(name: str, own: list[str]) -> None:
    assert load_recipe(name).data.make is not None  # pyright: ignore[reportAttributeAccessIssue]
    assert load_recipe(name, own).data.make is None  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(InputError, match="make"):
        load_recipe(name, [*own, "data.make=shapes" if name != "dates" else "data.make=dates"])


def test_a_misspelt_recipe() -> None:
    with pytest.raises(InputError, match=r"captons: neither a file nor one of .*; did you mean captions\?"):
        load_recipe("captons")


def test_a_training_without_its_data_leaves_no_folder(tmp_path: Path):
    recipe = load_recipe("rnn", ["data.train.source=nowhere.en", "data.train.target=nowhere.de"])
    with pytest.raises(InputError, match=r"nowhere\.en"):
        start_training(recipe, tmp_path / "run", Silent())
    assert not (tmp_path / "run").exists()
