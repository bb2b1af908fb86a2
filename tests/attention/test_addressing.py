"""The addressing of the Neural Turing Machine, step by step against Graves 2014 in numpy, loop by loop."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from saccade.attention import Addressing, address, content_weighting, interpolate, sharpen, shift

LOCATIONS, WIDTH, HEADS = 6, 4, 3


def some(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weighting(*shape: int, seed: int = 0) -> Tensor:
    return torch.softmax(some(*shape, seed=seed), dim=-1)


def content_by_hand(key: np.ndarray, memory: np.ndarray, beta: float) -> np.ndarray:
    """Equations 5 and 6."""
    exps = [
        math.exp(beta * float(key @ location) / math.sqrt(float(key @ key) * float(location @ location)))
        for location in memory
    ]
    return np.array(exps) / sum(exps)


def shift_by_hand(weights: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Equation 8: w(i) = Σ_j w(j) s(i - j), all indices around the ring."""
    moved = np.zeros_like(weights)
    for location in range(len(weights)):
        for number, share in enumerate(offsets):
            moved[location] += share * weights[(location - (number - len(offsets) // 2)) % len(weights)]
    return moved


def sharpen_by_hand(weights: np.ndarray, gamma: float) -> np.ndarray:
    """Equation 9."""
    return weights**gamma / (weights**gamma).sum()


def test_content_is_a_softmax_of_cosines():
    key, memory, beta = some(2, HEADS, WIDTH), some(2, LOCATIONS, WIDTH, seed=1), some(2, HEADS, seed=2).exp()
    found = content_weighting(key, memory, beta)
    for batch in range(2):
        for head in range(HEADS):
            by_hand = content_by_hand(key[batch, head].numpy(), memory[batch].numpy(), float(beta[batch, head]))
            np.testing.assert_allclose(found[batch, head], by_hand, rtol=1e-12)


def test_an_empty_location_is_neither_like_nor_unlike_any_key():
    memory = torch.zeros(2, 3)
    memory[0] = torch.tensor([0.0, 1.0, 0.0])
    found = content_weighting(torch.tensor([[1.0, 0.0, 0.0]]), memory, torch.tensor([5.0]))
    torch.testing.assert_close(found, torch.full((1, 2), 0.5))


def test_the_gate_goes_from_where_it_was_to_the_content():
    content, last = weighting(2, LOCATIONS), weighting(2, LOCATIONS, seed=1)
    gate = torch.tensor([0.0, 1.0], dtype=torch.float64)
    torch.testing.assert_close(interpolate(content, last, gate), torch.stack([last[0], content[1]]))
    halfway = interpolate(content, last, torch.full((2,), 0.25, dtype=torch.float64))
    torch.testing.assert_close(halfway, 0.25 * content + 0.75 * last)


@pytest.mark.parametrize("moves", [1, 2, 3, 4, 5, LOCATIONS, LOCATIONS + 3])
def test_a_shift_is_a_convolution_around_the_ring(moves: int):
    weights, offsets = weighting(2, HEADS, LOCATIONS), weighting(2, HEADS, moves, seed=1)
    found = shift(weights, offsets)
    for batch in range(2):
        for head in range(HEADS):
            by_hand = shift_by_hand(weights[batch, head].numpy(), offsets[batch, head].numpy())
            np.testing.assert_allclose(found[batch, head], by_hand, rtol=1e-12)
    torch.testing.assert_close(found.sum(-1), torch.ones(2, HEADS, dtype=torch.float64))


def test_three_offsets_are_one_back_stay_and_one_on():
    at_two = torch.eye(5)[2]
    for number, location in enumerate((1, 2, 3)):
        assert shift(at_two, torch.eye(3)[number]).argmax() == location
    assert shift(torch.eye(5)[4], torch.eye(3)[2]).argmax() == 0  # around the end


def test_the_gradient_of_a_shift():
    weights, offsets = weighting(2, LOCATIONS).requires_grad_(), weighting(2, 4, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(shift, (weights, offsets))


def test_sharpening_is_a_power():
    weights, gamma = weighting(HEADS, LOCATIONS), 1 + some(HEADS, seed=1).exp()
    for head, found in enumerate(sharpen(weights, gamma)):
        np.testing.assert_allclose(found, sharpen_by_hand(weights[head].numpy(), float(gamma[head])), rtol=1e-12)


def test_all_four_in_their_order():
    memory, last = some(1, LOCATIONS, WIDTH), weighting(1, 1, LOCATIONS, seed=1)
    how = Addressing(some(1, 1, WIDTH, seed=2), *map(torch.tensor, ([[3.0]], [[0.6]], [[[0.1, 0.2, 0.7]]], [[2.5]])))
    content = content_by_hand(how.key[0, 0].numpy(), memory[0].numpy(), 3.0)
    moved = shift_by_hand(0.6 * content + 0.4 * last[0, 0].numpy(), np.array([0.1, 0.2, 0.7]))
    found = address(memory, last, Addressing(how.key, *(part.double() for part in how[1:])))
    np.testing.assert_allclose(found[0, 0], sharpen_by_hand(moved, 2.5), rtol=1e-6)


@pytest.mark.parametrize("beta", [0.0, 1e4])
@pytest.mark.parametrize("gamma", [1.0, 1e4])
@pytest.mark.parametrize("gate", [0.0, 1.0])
def test_whatever_is_wanted_weights_and_gradients_are_finite(beta: float, gamma: float, gate: float):
    memory = torch.randn(2, LOCATIONS, WIDTH, generator=torch.Generator().manual_seed(3))
    memory[:, 0] = 0
    last = (
        torch.eye(LOCATIONS)[:2].expand(2, 2, LOCATIONS).clone()
    )  # zeros, whose logarithm and whose power are awkward
    rest = (torch.full((2, 2), beta), torch.full((2, 2), gate), torch.eye(3)[1:].repeat(2, 1, 1))
    key, gamma_of = torch.ones(2, 2, WIDTH), torch.full((2, 2), gamma)
    parts = [part.requires_grad_() for part in (memory, last, key, *rest, gamma_of)]
    weights = address(parts[0], parts[1], Addressing(*parts[2:]))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2))
    weights.square().sum().backward()
    for part in parts:
        assert part.grad is not None
        assert torch.isfinite(part.grad).all()
