"""Learning with coarser products, against the same products of rounded numbers in float64."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.nets import projected_cross_entropy
from saccade.nets._kernels.cross_entropy import plain_projected_cross_entropy
from saccade.nets._kernels.deferred import DeferredLinear
from saccade.runtime import linear
from saccade.runtime.bfloat16 import apply_linear, slow_without_bfloat16, training_precision, trains_in_bfloat16

# bfloat16 keeps 8 bits: a rounded number is off by at most this share of it.
HALF_A_BIT = 2.0**-8


def rounded(x: Tensor) -> Tensor:
    return x.detach().bfloat16().double()


@pytest.mark.parametrize("shape", [(5, 12), (3, 7, 12), (1, 12), (12,), (0, 12)])
@pytest.mark.parametrize("bias", [True, False])
def test_products_are_those_of_rounded_numbers(shape: tuple[int, ...], bias: bool) -> None:  # noqa: FBT001
    torch.manual_seed(1)
    layer = nn.Linear(12, 9, bias=bias)
    x = torch.randn(shape, requires_grad=True)
    with training_precision("bfloat16"):
        y = apply_linear(layer, x)
    slope = torch.randn_like(y)
    y.backward(slope)  # outside: a backward pass knows what was asked for

    offset = layer.bias.detach().double() if bias else 0.0
    product = F.linear(rounded(x), rounded(layer.weight))
    # besides the last rounding, sums may be taken in another order
    torch.testing.assert_close(y.detach().double() - offset, product, rtol=HALF_A_BIT, atol=1e-5)
    rows, slopes = rounded(x).view(-1, 12), rounded(slope).view(-1, 9)
    assert x.grad is not None
    assert layer.weight.grad is not None
    found = x.grad.double(), layer.weight.grad.double()
    wanted = (slopes @ rounded(layer.weight)).view(shape), slopes.t() @ rows
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=HALF_A_BIT, atol=1e-5)
    if bias:
        torch.testing.assert_close(layer.bias.grad, slope.view(-1, 9).sum(0))


def test_a_result_that_stays_rounded_is_that_of_rounded_numbers() -> None:
    torch.manual_seed(5)
    inner, outer = nn.Linear(12, 9), nn.Linear(9, 5)
    x = torch.randn(3, 7, 12, requires_grad=True)
    with training_precision("bfloat16"):
        middle = linear.apply_linear(inner, x, rounded=True)
        y = linear.apply_linear(outer, middle.relu())
    assert (middle.dtype, y.dtype) == (torch.bfloat16, torch.float32)
    exact = [one.detach().double().requires_grad_() for one in (x, *inner.parameters(), *outer.parameters())]
    wanted = F.linear(F.linear(*exact[:3]).relu(), *exact[3:])
    assert 0 < (y - wanted).norm() < 0.02 * wanted.norm()
    slope = torch.randn_like(y)
    given = [x, *inner.parameters(), *outer.parameters()]
    found = torch.autograd.grad(y, given, slope)
    for one, other in zip(found, torch.autograd.grad(wanted, exact, slope.double()), strict=True):
        assert one.dtype == torch.float32
        assert (one - other).norm() < 0.02 * other.norm()


def test_nothing_stays_rounded_unless_learning() -> None:
    layer, x = nn.Linear(6, 4), torch.randn(3, 6)
    assert linear.apply_linear(layer, x, rounded=True).dtype == torch.float32
    with training_precision("bfloat16"), torch.no_grad():
        assert linear.apply_linear(layer, x, rounded=True).dtype == torch.float32


def test_nothing_is_coarser_unless_asked_for_and_learning() -> None:
    torch.manual_seed(2)
    layer, x = nn.Linear(6, 4), torch.randn(3, 6)
    exact = layer(x)
    with training_precision("float32"):
        assert torch.equal(apply_linear(layer, x), exact)
    with training_precision("bfloat16"):
        assert trains_in_bfloat16()
        assert not torch.equal(apply_linear(layer, x), exact)
        with torch.no_grad():
            assert torch.equal(apply_linear(layer, x), exact)
    assert not trains_in_bfloat16()
    assert torch.equal(apply_linear(layer, x), exact)


def test_a_deferred_product_is_that_of_rounded_numbers() -> None:
    torch.manual_seed(4)
    weight = torch.randn(9, 12, requires_grad=True)
    x = torch.randn(2, 5, 12, requires_grad=True)
    with training_precision("bfloat16"):
        deferred = DeferredLinear(weight)
        y = torch.stack([deferred(x[0]), deferred(x[1])])
    slope = torch.randn_like(y)
    y.backward(slope)
    assert x.grad is not None
    assert weight.grad is not None
    slopes = rounded(slope)
    pairs = [
        (y, F.linear(rounded(x), rounded(weight))),
        (x.grad, slopes @ rounded(weight)),
        (weight.grad, slopes.flatten(0, 1).t() @ rounded(x).flatten(0, 1)),
    ]
    for found, wanted in pairs:
        torch.testing.assert_close(found.detach().double(), wanted, rtol=HALF_A_BIT, atol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
def test_the_loss_and_its_gradients_are_near_the_exact_ones(bias: bool) -> None:  # noqa: FBT001
    torch.manual_seed(3)
    features = torch.randn(40, 16, requires_grad=True)
    weight = (torch.randn(50, 16) / 4).requires_grad_()
    offsets = torch.randn(50, requires_grad=True) if bias else None
    target = torch.randint(0, 50, (40,))
    wanted_of = [tensor for tensor in (features, weight, offsets) if tensor is not None]
    with training_precision("bfloat16"):
        found = projected_cross_entropy(features, weight, offsets, target, smoothing=0.1, ignore=0)
    wanted = plain_projected_cross_entropy(features, weight, offsets, target, smoothing=0.1, ignore=0)
    assert not torch.equal(found.total, wanted.total)
    torch.testing.assert_close(found.each, wanted.each, rtol=0.02, atol=0.02)
    gradients = torch.autograd.grad(found.total, wanted_of)
    for one, other in zip(gradients, torch.autograd.grad(wanted.total, wanted_of), strict=True):
        assert one.dtype == torch.float32
        assert (one - other).norm() < 0.01 * other.norm()


@pytest.mark.parametrize(
    ("has", "slow"),
    [
        ({"architecture": "x86_64", "avx512_bf16": True, "amx_bf16": False}, False),
        ({"architecture": "x86_64", "avx512_bf16": False, "amx_bf16": False}, True),
        ({"architecture": "aarch64"}, False),
    ],
)
def test_a_processor_without_it_is_known(
    has: dict[str, object],
    slow: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has)
    assert slow_without_bfloat16() == slow
