"""Bits per sequence and wrong bits, against torch's cross entropy."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from saccade.metrics import score_bits


def test_bits_are_the_cross_entropy_of_a_sequence():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4, 5, 3)).astype(np.float32) * 4
    targets = rng.integers(0, 2, (4, 5, 3)).astype(np.float32)
    found = score_bits(logits, targets)
    total = F.binary_cross_entropy_with_logits(torch.from_numpy(logits), torch.from_numpy(targets), reduction="sum")
    assert found.bits == pytest.approx(total.item() / 4 / math.log(2), rel=1e-6)
    assert found.wrong == pytest.approx(100 * np.mean((logits > 0) != (targets > 0.5)))


def test_a_coin_costs_a_bit_for_each():
    assert score_bits(np.zeros((2, 7, 1), np.float32), np.ones((2, 7, 1), np.float32)).bits == pytest.approx(7)


def test_certainty_that_is_wrong_has_a_finite_price():
    assert score_bits(np.full((1, 1, 1), -1e4, np.float32), np.ones((1, 1, 1), np.float32)) == pytest.approx(
        (1e4 / math.log(2), 100.0)
    )
