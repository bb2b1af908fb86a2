"""Every score and every weighting against the formula in float64, in value and in gradient."""

import copy

import pytest
import torch
from torch import Tensor

from saccade.attention import SCORES, WEIGHTINGS, Attention, Hard, attend
from tests.attention.helpers import relative_error, score_named, some_mask, tensors, weighting_named
from tests.attention.reference import SCORE_FORMULAS, WEIGHTING_FORMULAS, reference_scores, reference_weights

# random, not by a formula: test_hard.py has them
DRAWN = {("hard", "training"), ("straight-through", "training")}


def test_every_score_and_weighting_has_a_formula() -> None:
    for name in SCORES:
        assert type(score_named(name)) in SCORE_FORMULAS, (
            f"write the formula of {name!r} in tests/attention/reference.py"
        )
    for name in WEIGHTINGS:
        assert type(weighting_named(name)) in WEIGHTING_FORMULAS, f"write the formula of {name!r} in reference.py"


@pytest.mark.parametrize("name", SCORES)
def test_score(name: str) -> None:
    score, (query, key, _) = score_named(name), tensors()
    for b in range(len(query)):
        wanted = reference_scores(score, query[b].double(), key[b].double())
        assert relative_error(score(query, key)[b], wanted) <= 1e-5


@pytest.mark.parametrize("name", SCORES)
def test_gradient_of_score(name: str) -> None:
    score, (query, key, _) = score_named(name, dtype=torch.float64), tensors(dtype=torch.float64, grad=True)

    def scores(query: Tensor, key: Tensor, *parameters: Tensor) -> Tensor:
        return score(query, key)

    assert torch.autograd.gradcheck(scores, (query, key, *score.parameters()))


MODES = [(name, mode) for name in WEIGHTINGS for mode in ("training", "inference") if (name, mode) not in DRAWN]


@pytest.mark.parametrize(("weighting_name", "mode"), MODES)
@pytest.mark.parametrize("score_name", SCORES)
def test_weights_context_and_gradients(score_name: str, weighting_name: str, mode: str) -> None:
    """Each of all combinations, in float32 and under a mask: weights, context and all gradients."""
    layer = Attention(score_named(score_name), weighting_named(weighting_name)).train(mode == "training")
    query, key, value = tensors(grad=True)
    mask = some_mask()
    output = layer(query, key, value, mask=mask, need_weights=True)
    assert output.weights is not None

    exact = copy.deepcopy(layer).double()
    inputs = [x.detach().double().requires_grad_() for x in (query, key, value)]
    weights = torch.stack(
        [reference_weights(exact.score, exact.weighting, q, k, m) for q, k, m in zip(*inputs[:2], mask, strict=True)]
    )
    context = torch.stack([w @ v for w, v in zip(weights, inputs[2], strict=True)])
    assert relative_error(output.weights, weights) <= 1e-5
    assert relative_error(output.context, context) <= 1e-5

    direction = torch.randn_like(context)
    found = torch.autograd.grad(
        output.context, (query, key, value, *layer.parameters()), direction.float(), allow_unused=True
    )
    wanted = torch.autograd.grad(context, (*inputs, *exact.parameters()), direction, allow_unused=True)
    largest = max(float(grad.abs().max()) for grad in wanted if grad is not None)
    for mine, theirs in zip(found, wanted, strict=True):
        zero = torch.zeros(())
        difference = (zero if mine is None else mine) - (zero if theirs is None else theirs)
        assert float(difference.abs().max()) <= 1e-5 * largest


@pytest.mark.parametrize("weighting_name", [name for name, mode in MODES if mode == "training"])
@pytest.mark.parametrize("score_name", SCORES)
def test_gradient_by_differences(score_name: str, weighting_name: str) -> None:
    """gradcheck: independent of every formula, of context and weights together."""
    score = score_named(score_name, dtype=torch.float64)
    weighting = weighting_named(weighting_name, dtype=torch.float64).train()
    query, key, value = tensors(dtype=torch.float64, grad=True, batch=1, queries=2, keys=3)
    mask = some_mask(batch=1, queries=2, keys=3)

    def run(query: Tensor, key: Tensor, value: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        output = attend(query, key, value, score=score, weighting=weighting, mask=mask, need_weights=True)
        assert output.weights is not None
        return output.context, output.weights

    assert torch.autograd.gradcheck(run, (query, key, value, *score.parameters(), *weighting.parameters()))


@pytest.mark.parametrize("weighting_name", ["soft", "local-m"])
@pytest.mark.parametrize("score_name", SCORES)
def test_gradient_of_the_fast_paths_by_differences(score_name: str, weighting_name: str) -> None:
    score = score_named(score_name, dtype=torch.float64)
    weighting = weighting_named(weighting_name, dtype=torch.float64)
    query, key, value = tensors(dtype=torch.float64, grad=True, batch=1, queries=2, keys=3)
    mask = some_mask(batch=1, queries=2, keys=3)

    def run(query: Tensor, key: Tensor, value: Tensor, *parameters: Tensor) -> Tensor:
        return attend(query, key, value, score=score, weighting=weighting, mask=mask).context

    assert torch.autograd.gradcheck(run, (query, key, value, *score.parameters()))


def test_the_worked_example() -> None:
    """q·k of 112 and 96 with 64 dimensions: scores 14 and 12, weights 0.88 and 0.12."""
    query = torch.full((1, 1, 64), 1.0)
    key = torch.stack([torch.full((64,), 112 / 64), torch.full((64,), 96 / 64)])[None]
    score = score_named("scaled-dot")
    torch.testing.assert_close(score(query, key), torch.tensor([[[14.0, 12.0]]]))
    weights = attend(query, key, score=score, need_weights=True).weights
    assert weights is not None
    assert [round(float(w), 2) for w in weights.flatten()] == [0.88, 0.12]


def test_scaled_dot_is_torch_s() -> None:
    query, key, value = tensors()
    mask = some_mask()
    for need_weights in (True, False):
        found = attend(query, key, value, score=score_named("scaled-dot"), mask=mask, need_weights=need_weights).context
        wanted = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        torch.testing.assert_close(found, wanted)


def test_estimators_share_the_inference() -> None:
    query, key, value = tensors()
    contexts = [
        attend(query, key, value, score=score_named("dot"), weighting=Hard(estimator).eval()).context
        for estimator in ("reinforce", "straight-through")
    ]
    torch.testing.assert_close(*contexts)
