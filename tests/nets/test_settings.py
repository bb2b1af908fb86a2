"""Settings of nets that do not go together."""

from typing import Any

import pytest

from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.nets.settings import LanguageRnnSettings, RecurrentSettings, TransformerSettings

ADDITIVE = "additive, perceptron, location-aware, location-recurrent, coverage, mix"
REFUSED: dict[str, tuple[type, dict[str, Any], str]] = {
    "an activation of a dot product": (
        RecurrentSettings,
        {"kind": "rnn", "score": "dot", "score_activation": "relu"},
        f"found 'relu', wanted 'tanh' with score dot, which has no activation; those that have one are {ADDITIVE}",
    ),
    "an activation of no attention": (
        LanguageRnnSettings,
        {"kind": "rnn", "score_activation": "gelu"},
        "found 'gelu', wanted 'tanh' with score none, which has no activation",
    ),
    "an activation of a Transformer's usual score": (
        TransformerSettings,
        {"kind": "transformer", "score_activation": "sigmoid"},
        "found 'sigmoid', wanted 'tanh' with score scaled-dot",
    ),
    "an unknown activation": (RecurrentSettings, {"kind": "rnn", "score_activation": "softplus"}, "score_activation"),
    "rotary positions beside": (
        TransformerSettings,
        {"kind": "transformer", "positions": "rotary", "positions_combine": "concatenate"},
        "positions_combine: found concatenate, wanted add with positions: rotary",
    ),
    "no positions beside": (
        TransformerSettings,
        {"kind": "transformer", "positions": "none", "positions_combine": "concatenate"},
        "positions_combine: found concatenate, wanted add with positions: none",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_go_together_is_refused(name: str) -> None:
    kind, values, message = REFUSED[name]
    with pytest.raises(InputError) as caught:
        check_settings(kind, values, where="recipe.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("recipe.yaml: ")


def test_they_go_with_what_they_are_for() -> None:
    for score in ADDITIVE.split(", "):
        check_settings(RecurrentSettings, {"kind": "rnn", "score": score, "score_activation": "relu"}, where="here")
    values = {"kind": "transformer", "score": "perceptron", "score_activation": "gelu", "positions": "learned"}
    check_settings(TransformerSettings, {**values, "positions_combine": "concatenate"}, where="here")
