"""Hard attention: its draws, and the two ways to learn through them."""

from typing import Literal

import pytest
import torch

from saccade.attention import Additive, Attention, Choice, Hard, moving_baseline
from tests.attention.helpers import score_named, some_mask, tensors


def choice_of(choice: Choice | None) -> Choice:
    assert choice is not None
    return choice


def test_inference_takes_the_likeliest_and_training_draws() -> None:
    scores = torch.tensor([[[0.0, 2.0, 1.0]]]).expand(1, 20000, 3)
    weighting = Hard()
    query = torch.zeros(1, 20000, 1)
    assert (weighting.eval()(scores, mask=None, query=query).weights == torch.tensor([0.0, 1.0, 0.0])).all()
    drawn = weighting.train()(scores, mask=None, query=query).weights
    assert (drawn.sum(-1) == 1).all()
    assert ((drawn == 0) | (drawn == 1)).all()
    # 20,000 draws: the standard error of a frequency is below 0.0036
    torch.testing.assert_close(drawn.mean((0, 1)), scores[0, 0].softmax(-1), atol=0.015, rtol=0)


@pytest.mark.parametrize("estimator", ["reinforce", "straight-through"])
def test_some_sequences_get_the_expectation(estimator: Literal["reinforce", "straight-through"]) -> None:
    """Xu 2015: of half of them the weights are p, with its gradient, and what they lead to is no draw's merit."""
    logits = torch.randn(1, 1, 4, requires_grad=True)
    scores = logits.expand(2000, 3, 4)
    layer = Hard(estimator, expected=0.5).train()
    output = layer(scores, mask=None, query=scores)
    drawn = output.weights.amax(-1)[:, 0] == 1
    assert 0.45 < drawn.float().mean() < 0.55  # the standard error is 0.011
    torch.testing.assert_close(output.weights[~drawn], scores[~drawn].softmax(-1))
    if estimator == "reinforce":
        choice = choice_of(output.choice)
        assert (choice.log_prob[~drawn] == 0).all()
        assert (choice.entropy[~drawn] == 0).all()
        assert (choice.log_prob[drawn] < 0).all()
    # the next queries of a sequence are treated as the first
    again = layer(scores, mask=None, query=scores, state=output.state)
    assert torch.equal(again.weights.amax(-1) == 1, drawn[:, None].expand(2000, 3))
    # an expectation carries its gradient back
    (found,) = torch.autograd.grad(output.weights[~drawn][0, 0, 0], logits)
    (wanted,) = torch.autograd.grad(logits.softmax(-1)[0, 0, 0], logits)
    torch.testing.assert_close(found, wanted)
    assert (layer.eval()(scores, mask=None, query=scores).weights.amax(-1) == 1).all()


@pytest.mark.parametrize("baseline", [0.0, 3.0])
def test_reinforce_is_unbiased(baseline: float) -> None:
    """Its gradient, averaged over draws, is that of the expected reward, whatever the baseline."""
    logits = torch.randn(4, dtype=torch.float64, requires_grad=True)
    rewards = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)
    (wanted,) = torch.autograd.grad(-(logits.softmax(-1) @ rewards), logits)

    draws = 200_000
    output = Hard("reinforce").train()(logits.expand(1, draws, 4), mask=None, query=torch.zeros(1, draws, 1))
    loss = choice_of(output.choice).loss(output.weights @ rewards, baseline=baseline).mean()
    (found,) = torch.autograd.grad(loss, logits)
    torch.testing.assert_close(found, wanted, atol=0.03, rtol=0)


def test_a_baseline_lowers_the_variance() -> None:
    logits = torch.zeros(2, requires_grad=True)
    rewards = torch.tensor([10.0, 11.0])
    spread = {}
    for baseline in (0.0, 10.5):
        grads = []
        for _ in range(200):
            output = Hard().train()(logits[None, None], mask=None, query=torch.zeros(1, 1, 1))
            loss = choice_of(output.choice).loss(output.weights @ rewards, baseline=baseline).sum()
            grads.append(torch.autograd.grad(loss, logits)[0])
        spread[baseline] = torch.stack(grads).std().item()
    assert spread[10.5] < spread[0.0] / 5


def test_log_prob_and_entropy_are_those_of_the_softmax() -> None:
    layer = Attention(score_named("dot"), Hard()).train()
    query, key, value = tensors()
    mask = some_mask()
    mask[1, 2] = False
    output = layer(query, key, value, mask=mask, need_weights=True)
    choice, weights = choice_of(output.choice), output.weights
    assert weights is not None
    wanted = torch.distributions.Categorical(logits=layer.score(query, key).masked_fill(~mask, -1e30))
    seen = mask.any(-1)
    torch.testing.assert_close(choice.log_prob[seen], wanted.log_prob(weights.argmax(-1))[seen])
    torch.testing.assert_close(choice.entropy[seen], wanted.entropy()[seen])
    assert choice.log_prob[1, 2] == choice.entropy[1, 2] == 0


def test_a_row_that_may_look_nowhere_is_no_choice() -> None:
    for estimator in ("reinforce", "straight-through"):
        layer = Attention(score_named("additive"), Hard(estimator)).train()
        query, key, value = tensors(grad=True)
        output = layer(query, key, value, mask=torch.zeros(2, 3, 5, dtype=torch.bool))
        assert (output.context == 0).all()
        loss = output.context.sum()
        if output.choice is not None:
            loss = loss + output.choice.loss(torch.ones(2, 3), entropy_weight=1.0).sum()
        grads = torch.autograd.grad(loss, (query, key, value), allow_unused=True, materialize_grads=True)
        assert all((grad == 0).all() for grad in grads)


def test_straight_through_is_one_hot_forward_and_soft_backward() -> None:
    logits = torch.randn(1, 1, 4, dtype=torch.float64, requires_grad=True)
    values = torch.randn(4, dtype=torch.float64)
    output = Hard("straight-through").train()(logits, mask=None, query=torch.zeros(1, 1, 1))
    assert output.choice is None
    assert sorted(output.weights.flatten().tolist()) == pytest.approx([0, 0, 0, 1], abs=1e-12)
    (found,) = torch.autograd.grad((output.weights @ values).sum(), logits)
    (wanted,) = torch.autograd.grad((logits.softmax(-1) @ values).sum(), logits)
    torch.testing.assert_close(found, wanted)


def test_the_extra_loss_is_not_hidden_and_not_there_at_inference() -> None:
    query, key, value = tensors(grad=True)
    layer = Attention(Additive(7, 7), Hard())
    training = layer.train()(query, key, value)
    assert choice_of(training.choice).loss(torch.ones(2, 1)).shape == (2, 3)
    assert layer.score.v.grad is None
    assert layer.eval()(query, key, value).choice is None
    # without the extra loss nothing is learned about where to look
    assert torch.autograd.grad(training.context.sum(), query, allow_unused=True) == (None,)


def test_reinforce_learns_where_to_look() -> None:
    """The key that carries the mark is rewarded; with loss, baseline and entropy together it is found."""
    keys = torch.eye(5)[None]
    layer = Attention(Additive(3, 5), Hard())
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    query, baseline = torch.ones(1, 16, 3), 0.0
    for _ in range(150):
        output = layer(query, keys, keys)
        reward = output.context[..., 3]
        loss = choice_of(output.choice).loss(reward, baseline=baseline, entropy_weight=0.01).mean()
        baseline = moving_baseline(baseline, reward)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weights = layer.eval()(query[:, :1], keys, keys, need_weights=True).weights
    assert weights is not None
    assert weights.flatten().tolist() == [0, 0, 0, 1, 0]


def test_moving_baseline() -> None:
    assert float(moving_baseline(2.0, torch.tensor([4.0, 8.0]), decay=0.75)) == 0.75 * 2 + 0.25 * 6
