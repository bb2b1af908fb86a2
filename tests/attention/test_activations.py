"""Additive scores with another activation than tanh, each against its formula, in each way that they are computed."""

import copy

import pytest
import torch
from torch import Tensor

from saccade.attention import Additive, Attention, Perceptron, Score, attend, attention_path, make_score, remember
from saccade.attention.scores import ACTIVATIONS, ADDITIVE_SCORES, SCORES
from tests.attention.helpers import relative_error, score_named, some_mask, tensors
from tests.attention.reference import ACTIVATION_FORMULAS, reference_scores, reference_weights

every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)
every_additive = pytest.mark.parametrize("name", ADDITIVE_SCORES)


def activated(name: str, activation: str, *, dtype: torch.dtype = torch.float32) -> Score:
    """The score of that name, its numbers all random and of ordinary size."""
    score = score_named(name, dtype=dtype)
    for part in score.modules():
        if isinstance(part, Additive | Perceptron):
            part.activation = activation  # pyright: ignore[reportAttributeAccessIssue]
    return score


def test_every_activation_has_a_formula() -> None:
    assert set(ACTIVATION_FORMULAS) == set(ACTIVATIONS)


@every_activation
@every_additive
def test_scores_weights_and_gradients(name: str, activation: str) -> None:
    score, (query, key, value) = activated(name, activation), tensors(grad=True)
    mask = some_mask()
    layer = Attention(score)
    output = layer(query, key, value, mask=mask, need_weights=True)
    assert output.weights is not None
    exact = copy.deepcopy(layer).double()
    inputs = [x.detach().double().requires_grad_() for x in (query, key, value)]
    for b in range(len(query)):
        assert relative_error(score(query, key)[b], reference_scores(score, inputs[0][b], inputs[1][b])) <= 1e-5
    weights = torch.stack(
        [reference_weights(exact.score, exact.weighting, q, k, m) for q, k, m in zip(*inputs[:2], mask, strict=True)]
    )
    assert relative_error(output.weights, weights) <= 1e-5
    context = weights @ inputs[2]
    direction = torch.randn_like(context)
    found = torch.autograd.grad(output.context, (query, key, value, *layer.parameters()), direction.float())
    wanted = torch.autograd.grad(context, (*inputs, *exact.parameters()), direction)
    largest = max(float(one.abs().max()) for one in wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        assert float((mine - theirs).abs().max()) <= 1e-5 * largest


@every_activation
def test_tiled_is_plain(activation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    score, (query, key, value) = activated("additive", activation, dtype=torch.float64), tensors(dtype=torch.float64)
    plain = attend(query, key, value, score=score).context
    monkeypatch.setattr("saccade.attention.functional.TILE", 8)
    assert attention_path(score, shape=(2, 3, 5)) == "tiled"
    torch.testing.assert_close(attend(query, key, value, score=score).context, plain)


@every_activation
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(activation: str, dtype: torch.dtype) -> None:
    query, key, value = tensors()
    for name in ("additive", "perceptron"):
        score = activated(name, activation)
        wanted = attend(query, key, value, score=score).context
        found = attend(query.to(dtype), key.to(dtype), value.to(dtype), score=score.to(dtype)).context
        assert found.dtype == dtype
        assert relative_error(found, wanted) < 0.05


@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
def test_tanh_and_sigmoid_make_no_tensor_of_all_pairs(activation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go through the exponentials; the others are computed as the formula stands."""

    def refuse(*_: object) -> Tensor:
        raise AssertionError

    monkeypatch.setattr("saccade.attention.scores.additive.activate", refuse)
    query, key, _ = tensors()
    assert activated("additive", activation)(query, key).isfinite().all()
    for other in ("relu", "gelu"):
        with pytest.raises(AssertionError):
            activated("additive", other)(query, key)


def test_only_additive_scores_have_an_activation() -> None:
    for name in SCORES:
        changed = [
            part for part in make_score(name, 4, 4).modules() if isinstance(part, Additive | Perceptron)
        ]  # what an activation would be given to
        assert bool(changed) == (name in ADDITIVE_SCORES)
        if name in ADDITIVE_SCORES:
            made = make_score(name, 4, 4, activation="relu")
            assert "activation='relu'" in repr(made)
        else:
            with pytest.raises(ValueError, match=rf"activation: found 'relu', wanted 'tanh' with score {name}"):
                make_score(name, 4, 4, activation="relu")
    for make in (Additive, Perceptron):
        with pytest.raises(ValueError, match=r"activation: found 'softplus', wanted one of 'tanh', 'sigmoid'"):
            make(4, 4, activation="softplus")  # pyright: ignore[reportArgumentType]


def test_a_perceptron_is_an_additive_score_of_one_unit_without_its_v() -> None:
    query, key, _ = tensors(dtype=torch.float64)
    single, additive = Perceptron(7, 7).double(), Additive(7, 7, 1).double()
    additive.load_state_dict({**single.state_dict(), "v": torch.ones(1)})
    torch.testing.assert_close(single(query, key), additive(query, key))
    weights = attend(100 * query, key, score=single, need_weights=True).weights
    assert weights is not None
    assert float((weights.detach().amax(-1) / weights.detach().amin(-1)).max()) <= torch.e**2 + 1e-6


def test_keys_that_another_score_prepared_are_refused() -> None:
    memory = remember(torch.randn(2, 5, 4), score=Additive(4, 4, activation="relu"))
    for score in (Additive(4, 8, activation="relu"), Perceptron(4, 4)):
        with pytest.raises(ValueError, match="key: found size 4"):
            score.compare(score.queries(torch.randn(2, 3, 4)), memory.key)
