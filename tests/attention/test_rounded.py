"""Causal attention with products in bfloat16, against torch's fused kernel in float64."""

import pytest
import torch
import torch.nn.functional as F

from saccade.attention._kernels import rounded
from saccade.attention._kernels.fused import fused_attention
from saccade.runtime.bfloat16 import training_precision


def test_context_and_gradients_are_near_the_exact_ones() -> None:
    torch.manual_seed(1)
    # [B, T, H, D] -> [B, H, T, D], as heads are split
    parts = [torch.randn(2, 37, 3, 8).transpose(1, 2).requires_grad_() for _ in range(3)]
    exact = [part.detach().double().requires_grad_() for part in parts]
    query, key, value = exact
    wanted = F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=1.0)
    with training_precision("bfloat16"):
        assert rounded.takes(*parts)
        found = fused_attention(*parts, mask=None, causal=True)
    assert found.dtype == torch.float32
    assert 0 < (found - wanted).norm() < 0.02 * wanted.norm()
    slope = torch.randn_like(found)
    gradients = torch.autograd.grad(found, parts, slope)
    for one, other in zip(gradients, torch.autograd.grad(wanted, exact, slope.double()), strict=True):
        assert one.dtype == torch.float32
        assert (one - other).norm() < 0.02 * other.norm()


@pytest.mark.parametrize("length", [rounded.MIN_LENGTH - 1, rounded.MAX_LENGTH + 1])
def test_other_lengths_are_torchs(length: int) -> None:
    part = torch.randn(1, 1, length, 2, requires_grad=True)
    with training_precision("bfloat16"):
        assert not rounded.takes(part, part, part)


def test_nothing_is_coarser_unless_asked_for() -> None:
    part = torch.randn(1, 1, rounded.MIN_LENGTH, 2, requires_grad=True)
    assert not rounded.takes(part, part, part)
    with training_precision("bfloat16"), torch.no_grad():
        assert not rounded.takes(part, part, part)


def test_no_query_sees_a_later_key() -> None:
    torch.manual_seed(2)
    parts = [torch.randn(1, 2, 41, 5, requires_grad=True) for _ in range(3)]
    with training_precision("bfloat16"):
        context = fused_attention(*parts, mask=None, causal=True)
    for gradient in torch.autograd.grad(context[:, :, 13].sum(), parts):
        assert gradient[:, :, 14:].eq(0).all()
        assert gradient[:, :, :14].ne(0).any()
