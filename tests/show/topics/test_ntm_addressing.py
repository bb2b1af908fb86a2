"""Addressing against the equations of Graves 2014, number by number in plain Python."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from saccade.attention import address
from saccade.show import Matrix, Table, make_lesson
from saccade.show.topics import ntm_addressing
from saccade.show.topics.ntm_addressing import BETA, GAMMA, GATE, LAST, LOCATIONS, MOVES, NUMBERS, OFFSETS, WANTED

Weights = list[float]


def normed(weights: Sequence[float]) -> Weights:
    return [weight / sum(weights) for weight in weights]


def content(key: Weights, memory: list[Weights]) -> Weights:
    def cosine(row: Weights) -> float:
        return sum(a * b for a, b in zip(key, row, strict=True)) / math.hypot(*key) / math.hypot(*row)

    return normed([math.exp(BETA * cosine(row)) for row in memory])


def shifted(weights: Weights) -> Weights:
    count = len(weights)
    return [sum(OFFSETS[move + 1] * weights[(i - move) % count] for move in (-1, 0, 1)) for i in range(count)]


def sharpened(weights: Weights, gamma: float = GAMMA) -> Weights:
    return normed([weight**gamma for weight in weights])


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_each_step_is_the_equation(seed: int) -> None:
    torch.manual_seed(seed)
    memory, key = torch.randn(LOCATIONS, NUMBERS), torch.randn(NUMBERS)
    last = torch.rand(LOCATIONS).softmax(-1)
    steps = ntm_addressing.step_by_step(memory, key, last)
    by_content = content(key.tolist(), memory.tolist())
    mixed = [GATE * one + (1 - GATE) * other for one, other in zip(by_content, last.tolist(), strict=True)]
    wanted = (last.tolist(), by_content, mixed, shifted(mixed), sharpened(shifted(mixed)))
    for found, numbers in zip(steps, wanted, strict=True):
        np.testing.assert_allclose(found, numbers, atol=1e-5)
    torch.testing.assert_close(address(memory, last[None], ntm_addressing.orders(key))[0], steps.sharpened)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_head_comes_to_the_location_after_the_one_that_is_like_the_key(seed: int) -> None:
    blocks = make_lesson("ntm-addressing", seed=seed).blocks
    _, steps, _, _ = (block for block in blocks if isinstance(block, Matrix))
    (table,) = (block for block in blocks if isinstance(block, Table))
    assert steps.weights.argmax(1).tolist() == [LAST, WANTED, WANTED, WANTED + 1, WANTED + 1]
    for line, weights in zip(table.rows, steps.weights[1:].astype(float), strict=True):
        bits = -sum(weight * math.log2(weight) for weight in weights if weight)
        assert line[3:] == (str(weights.argmax()), f"{weights.max():.2f}", f"{bits:.2f}")


def test_without_sharpening_the_head_that_walks_loses_its_place() -> None:
    blocks = make_lesson("ntm-addressing").blocks
    _, _, sharp, blurred = (block.weights for block in blocks if isinstance(block, Matrix))
    assert MOVES == LOCATIONS  # once around
    clear = soft = [float(place == LAST) for place in range(LOCATIONS)]
    for move in range(MOVES + 1):
        np.testing.assert_allclose(sharp[move], clear, atol=1e-5)
        np.testing.assert_allclose(blurred[move], soft, atol=1e-5)
        clear, soft = sharpened(shifted(clear)), shifted(soft)
    assert sharp[-1].argmax() == LAST
    assert sharp[-1].max() > 0.95
    assert blurred[-1].max() < 0.35
