"""Models that must really learn: to reverse and to sort, on sequences that they never saw."""

from pathlib import Path

import pytest

from saccade.attention import QUERY_SCORES
from tests.tasks.makers import learn, reverse_pairs, small_recipe, sort_pairs

RNN = {"kind": "rnn", "embedding": 32, "dim": 64, "dropout": 0.0}
ATTENDING = [score for score in QUERY_SCORES if score != "perceptron"]  # whose scores lie between -1 and 1


@pytest.mark.parametrize("score", ATTENDING)
def test_reversing_with_each_score(score: str, tmp_path: Path) -> None:
    figures = learn(small_recipe({**RNN, "score": score}, steps=220), reverse_pairs(6500), tmp_path)
    assert figures["exact_match"] > 99


@pytest.mark.parametrize("score", ATTENDING)
def test_sorting_with_each_score(score: str, tmp_path: Path) -> None:
    figures = learn(small_recipe({**RNN, "score": score}, steps=420), sort_pairs(6500), tmp_path)
    assert figures["exact_match"] > 99


def test_a_perceptron_gets_nearly_as_far(tmp_path: Path) -> None:
    """No key ever has more than e² times the weight of another; for five letters that does."""
    figures = learn(small_recipe({**RNN, "score": "perceptron"}, steps=220), reverse_pairs(6500), tmp_path)
    assert figures["exact_match"] > 90


@pytest.mark.parametrize(("score", "right"), [("none", 60), ("static", 95)])
def test_the_same_training_without_attention_falls_short(score: str, right: int, tmp_path: Path) -> None:
    """What the score is worth: with one vector at the start most come out wrong, and with one at each step too many."""
    figures = learn(small_recipe({**RNN, "score": score}, steps=220), reverse_pairs(6500), tmp_path)
    assert figures["exact_match"] < right


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_transformer_learns_too(precision: str, tmp_path: Path) -> None:
    model = {"kind": "transformer", "layers": 2, "dim": 64, "heads": 4, "feed_forward": 128, "dropout": 0.0}
    recipe = small_recipe(model, steps=350, lr=3e-3, warmup_steps=60, precision=precision)
    assert learn(recipe, reverse_pairs(6500), tmp_path)["exact_match"] > 99


@pytest.mark.parametrize("weighting", ["hard", "straight-through", "sparse"])
def test_other_weightings_learn_too(weighting: str, tmp_path: Path) -> None:
    """Hard attention learns by its draws, and is slower to."""
    recipe = small_recipe({**RNN, "weighting": weighting, "order": "luong"}, steps=500)
    assert learn(recipe, reverse_pairs(6500), tmp_path)["exact_match"] > 90
