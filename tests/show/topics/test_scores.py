"""Every score, against its formula in float64."""

import numpy as np
import pytest
import torch

from saccade.attention import SCORES, Soft, make_score
from saccade.show import Matrix, Table, make_lesson
from saccade.show.topics.scores import SIZE, WORDS, formula_of, make_items
from tests.attention.reference import reference_weights
from tests.show.blocks import blocks, column, prose


def test_the_weights_are_those_of_the_formulas() -> None:
    (shown,) = blocks(make_lesson("scores", seed=3), Matrix)
    assert list(shown.rows) == list(SCORES)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        query, key = (x[0].double() for x in make_items())
        scores = [make_score(name, SIZE, SIZE).double() for name in SCORES]
    for score, weights in zip(scores, shown.weights, strict=True):
        wanted = reference_weights(score, Soft(), query, key, torch.ones(len(query), len(key)))
        np.testing.assert_allclose(weights, wanted[-1].detach().numpy(), atol=1e-6)


def test_the_keys_are_as_the_text_says() -> None:
    torch.manual_seed(0)
    query, key = make_items()
    cosines = torch.cosine_similarity(query[0, :1], key[0], dim=-1)
    torch.testing.assert_close(cosines, torch.tensor([0, 0, 1, 0, 0.6]), atol=1e-6, rtol=0)
    assert key[0, 4].norm() / key[0, 2].norm() == pytest.approx(3)


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_cosine_prefers_direction_and_the_dot_product_length(seed: int) -> None:
    shown = make_lesson("scores", seed=seed)
    (weights,) = blocks(shown, Matrix)
    most = {name: WORDS[row.argmax()] for name, row in zip(weights.rows, weights.weights, strict=True)}
    assert (most["cosine"], most["dot"], most["scaled-dot"]) == ("runs", "snow", "snow")
    assert "it looks at 'runs' most, with 0.36" in prose(shown)


def test_every_score_has_its_formula() -> None:
    (table,) = blocks(make_lesson("scores"), Table)
    assert [name for name in column(table, "score") if name] == list(SCORES)
    assert all(formula_of(make_score(name, SIZE, SIZE))[0].startswith("e[t, s] = ") for name in SCORES)
    assert formula_of(make_score("location-aware", SIZE, SIZE)) == [
        "e[t, s] = vᵀ tanh(W q[t] + U k[s] + X f[s] + b)",
        "f = F * α[t - 1]",
    ]
