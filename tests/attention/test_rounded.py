"""Causal attention with products in bfloat16, against torch's fused kernel in float64."""

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from saccade.attention import Additive, MultiHead, Rotary
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


@pytest.mark.parametrize("bias", [True, False])
def test_all_heads_at_once_are_near_the_exact_ones(bias: bool) -> None:  # noqa: FBT001
    torch.manual_seed(3)
    layer = MultiHead(15, 3, bias=bias)
    exact_layer = copy.deepcopy(layer).double()
    x = torch.randn(2, 37, 15, requires_grad=True)
    exact = x.detach().double().requires_grad_()
    wanted = exact_layer(exact, causal=True).context
    with training_precision("bfloat16"):
        found = layer.look_back(x)
    assert "Bfloat16" in str(found.grad_fn)
    assert found.dtype == torch.float32
    assert 0 < (found - wanted).norm() < 0.02 * wanted.norm()
    slope = torch.randn_like(found)
    gradients = torch.autograd.grad(found, [x, *layer.parameters()], slope)
    expected = torch.autograd.grad(wanted, [exact, *exact_layer.parameters()], slope.double())
    names = ["x", *(name for name, _ in layer.named_parameters())]
    for name, one, other in zip(names, gradients, expected, strict=True):
        assert one.dtype == torch.float32
        if name == "key_projection.bias":  # moves all scores of a query alike: what is there is rounding
            assert one.norm() < 0.02 * gradients[0].norm()
        else:
            assert (one - other).norm() < 0.02 * other.norm(), name


@pytest.mark.parametrize(
    "made",
    [
        {"score": Additive(5, 5)},
        {"rotary": Rotary(6)},
        {"dropout": 0.5},
        {"key_dim": 7, "value_dim": 7},
    ],
)
def test_other_layers_look_back_as_they_do_everything(made: dict[str, Any]) -> None:
    torch.manual_seed(4)
    dim = 18 if "rotary" in made else 15
    layer = MultiHead(dim, 3, **made)
    with training_precision("bfloat16"):
        assert layer._joint_projections() is None


def test_looking_back_is_causal_self_attention() -> None:
    torch.manual_seed(5)
    layer, x = MultiHead(15, 3), torch.randn(2, 37, 15, requires_grad=True)
    torch.testing.assert_close(layer.look_back(x), layer(x, causal=True).context)
