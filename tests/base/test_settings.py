"""Settings: YAML as people write it, and every mistake named at once."""

from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.base.settings import (
    check_settings,
    differences,
    located,
    override,
    parse_yaml,
    path_settings,
    read_yaml,
    write_yaml,
)
from saccade.tasks.translation.recipe import TranslationRecipe

GOOD = {"task": "translation", "data": {"make": "dates"}, "model": {"kind": "rnn"}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("3", 3),
        ("-.5", -0.5),
        ("no", "no"),  # Norwegian
        ("none", "none"),
        ("true", True),
        ("12:30", "12:30"),
        ("null", None),
        ("[0.9, 0.98]", [0.9, 0.98]),
    ],
)
def test_plain_values_mean_what_they_look_like(text: str, value: object) -> None:
    assert parse_yaml(text, where="x") == value
    assert type(parse_yaml(text, where="x")) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2\nb: 3", "x, line 2"),
        ("a: 1\na: 2", "x, line 1: a is set twice"),
        ("a: !!python/object/apply:os.system ['true']", "tags (!) mean nothing here"),
        ("\x00", "x"),
    ],
)
def test_broken_yaml_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=r"^x") as error:
        parse_yaml(text, where="x")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_every_mistake_at_once_with_the_nearest_name() -> None:
    values = {
        "data": {"make": "dates", "validation_sizes": 3},
        "model": {"kind": "rnn", "scroe": "additive", "dim": "big", "weighting": "sfot"},
        "train": {"stepps": 5, "lr": -1.0, "clip_norm": True, "betas": [0.9]},
        "vocabluary": {},
    }
    with pytest.raises(InputError) as error:
        check_settings(TranslationRecipe, values, where="mine.yaml")
    message = str(error.value)
    for part in (
        "data.validation_sizes: no such setting; did you mean validation_size?",
        "model.scroe: no such setting; did you mean score?",
        "model.dim: found 'big', wanted a whole number",
        "model.weighting: found 'sfot', wanted one of soft",
        "did you mean soft?",
        "train.stepps: no such setting; did you mean steps?",
        "train.lr: found -1.0, wanted more than 0",
        "train.clip_norm: found True, wanted a number",
        "train.betas: found [0.9], wanted a list of at least 2 items",
        "vocabluary: no such setting; did you mean vocabulary?",
    ):
        assert part in message, part
    assert message.startswith("mine.yaml: ")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"kind": "rnnn"}}, "model.kind: found 'rnnn', wanted one of rnn, transformer; did you mean rnn?"),
        ({"model": {}}, "model.kind: missing; it has to be given"),
        ({"model": None}, "model: found None"),
        ({"train": 5}, "train: found 5, wanted settings"),
        (
            {"model": {"kind": "transformer", "dim": 10, "heads": 3}},
            "model: dim: found 10, wanted a multiple of heads, 3",
        ),
        ({"model": {"kind": "rnn", "dim": 7}}, "dim: found 7, wanted an even number"),
        (
            {"model": {"kind": "transformer", "tie_embeddings": "all"}},
            "model.tie_embeddings: all wants a joint vocabulary",
        ),
        ({"model": {"kind": "rnn", "score": "mix", "max_length": 4000}}, "max_length: found 4000, wanted at most 512"),
        ({"data": {}}, "data: wanted either train"),
        ({"data": {"train": {"source": "a"}}}, "data.train: target is missing"),
        ({"data": {"train": 7}}, "data.train: found 7"),
        ({"data": {"train": {"sorce": "a"}}}, "data.train.sorce: no such setting; did you mean source?"),
        ({"task": "cooking"}, "task: found 'cooking', wanted translation"),
    ],
)
def test_what_does_not_fit_is_explained(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as error:
        check_settings(TranslationRecipe, {**GOOD, **changes}, where="x")
    assert message in str(error.value)


def test_settings_survive_their_file(tmp_path: Path) -> None:
    values = override(GOOD, ["train.lr=1e-5", "data.to_language=no", "train.clip_norm=null", "data.pairs=77"])
    recipe = check_settings(TranslationRecipe, values, where="x")
    (tmp_path / "recipe.yaml").write_text(write_yaml(recipe))
    assert check_settings(TranslationRecipe, read_yaml(tmp_path / "recipe.yaml"), where="y") == recipe


def test_overrides() -> None:
    assert override({"a": {"b": 1, "c": 2}}, ["a.b=3", "d.e=x"]) == {"a": {"b": 3, "c": 2}, "d": {"e": "x"}}
    assert override({"a": "text"}, ["a.b=1"]) == {"a": {"b": 1}}
    for bad in ("steps", "=3", "a..b=3"):
        with pytest.raises(InputError, match=r"wanted key=value such as train.steps=2000"):
            override({}, [bad])


def test_differences_are_named() -> None:
    old = check_settings(TranslationRecipe, GOOD, where="x")
    new = check_settings(TranslationRecipe, override(GOOD, ["train.steps=3", "model.score=dot"]), where="x")
    assert differences(old, old) == []
    assert differences(old, new) == ["train.steps: 10000 -> 3", "model.score: additive -> dot"]


@pytest.mark.parametrize("values", [None, [], "text"])
def test_a_file_without_settings(values: object) -> None:
    with pytest.raises(InputError, match=r"^x: found .*wanted settings"):
        check_settings(TranslationRecipe, values, where="x")


def test_paths_in_lists_are_found_where_they_lie(tmp_path: Path) -> None:
    (tmp_path / "b.txt").touch()
    values = {**GOOD, "data": {"text": ["a.txt", "b.txt"]}, "vocabulary": {"joint": True}}
    recipe = check_settings(TranslationRecipe, values, where="x")
    assert path_settings(recipe) == {"data.text": "[a.txt,b.txt]"}
    assert located(recipe, [tmp_path]).data.text == ["a.txt", str(tmp_path / "b.txt")]
