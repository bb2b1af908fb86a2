"""Products by oneDNN, against torch's own in float64."""

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from saccade.runtime import onednn
from saccade.runtime.kernel_conditions import torch_only
from saccade.runtime.linear import apply_linear
from saccade.runtime.onednn import pays

pytestmark = pytest.mark.skipif(not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this torch has no oneDNN")


@pytest.fixture(autouse=True)
def _everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if it paid on any processor, for products of any size, of batches that have one shape."""
    monkeypatch.setattr(onednn, "pays", lambda: True)
    monkeypatch.setattr(onednn, "MIN_MULTIPLICATIONS", 1)
    with onednn.batches_of_one_shape(wanted=True):
        yield


def test_where_shapes_differ_torch_multiplies() -> None:
    layer, x = nn.Linear(12, 19), torch.randn(5, 12)
    assert onednn.takes(x, layer.weight, layer.bias)
    with onednn.batches_of_one_shape(wanted=False):
        assert not onednn.takes(x, layer.weight, layer.bias)


@pytest.mark.parametrize("shape", [(5, 12), (3, 7, 12), (12,)])
@pytest.mark.parametrize("bias", [True, False])
def test_products_and_gradients_are_those_of_torch(shape: tuple[int, ...], bias: bool) -> None:  # noqa: FBT001
    torch.manual_seed(1)
    layer = nn.Linear(12, 19, bias=bias)
    x = torch.randn(shape, requires_grad=True)
    assert onednn.takes(x, layer.weight, layer.bias) == (len(shape) > 1)
    y = apply_linear(layer, x)
    slope = torch.randn_like(y)
    inputs = [x, *layer.parameters()]
    found = torch.autograd.grad(y, inputs, slope)
    exact = [one.detach().double().requires_grad_() for one in inputs]
    wanted = F.linear(*exact)
    torch.testing.assert_close(y.double(), wanted, rtol=1e-5, atol=1e-5)
    for one, other in zip(found, torch.autograd.grad(wanted, exact, slope.double()), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5)


def test_only_what_is_wanted_gets_a_gradient() -> None:
    layer, x = nn.Linear(12, 19), torch.randn(5, 12)
    layer.weight.requires_grad = False
    apply_linear(layer, x).sum().backward()
    assert layer.weight.grad is None
    torch.testing.assert_close(layer.bias.grad, torch.full((19,), 5.0))


def test_a_second_derivative_is_torchs() -> None:
    torch.manual_seed(2)
    layer, x = nn.Linear(7, 3), torch.randn(5, 7, requires_grad=True)

    def second() -> torch.Tensor:
        (first,) = torch.autograd.grad(apply_linear(layer, x).pow(3).sum(), x, create_graph=True)
        return torch.autograd.grad(first.pow(2).sum(), x)[0]

    found = second()
    with torch_only():
        torch.testing.assert_close(found, second(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("x", [torch.randn(5, 12).double(), torch.randn(0, 12), torch.empty(5, 12, device="meta")])
def test_what_it_does_not_take(x: torch.Tensor) -> None:
    assert not onednn.takes(x, torch.randn(19, 12), None)
    with torch.no_grad():
        assert not onednn.takes(torch.randn(5, 12), torch.randn(19, 12), None)


@pytest.mark.parametrize(
    ("has", "wanted"),
    [
        ({"cpu_name": "AMD EPYC", "avx512_f": True}, True),
        ({"cpu_name": "AMD EPYC", "avx512_f": False}, False),
        ({"cpu_name": "Intel(R) Xeon(R) Platinum", "avx512_f": True}, False),
        ({"architecture": "aarch64"}, False),
    ],
)
def test_it_pays_where_mkl_leaves_avx512_out(
    has: dict[str, object],
    wanted: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has)
    assert pays.__wrapped__() == wanted
