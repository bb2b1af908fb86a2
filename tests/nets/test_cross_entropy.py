"""The loss that never has all of its logits."""

import pytest
import torch
from torch import Tensor

from bench.watch import Watch
from saccade.nets import projected_cross_entropy
from saccade.nets._kernels import cross_entropy
from saccade.nets._kernels.cross_entropy import (
    losses_and_gradient,
    plain_losses_and_gradient,
    plain_projected_cross_entropy,
)
from tests.native import loops

__all__ = ["loops"]

PAD = 0


def inputs(dtype: torch.dtype, *, bias: bool, tokens: int = 23) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    torch.manual_seed(4)
    features = torch.randn(tokens, 6, dtype=dtype, requires_grad=True)
    weight = torch.randn(17, 6, dtype=dtype, requires_grad=True)
    offsets = torch.randn(17, dtype=dtype, requires_grad=True) if bias else None
    target = torch.randint(0, 17, (tokens,))
    target[::4] = PAD
    return features, weight, offsets, target


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("chunk", [1, 17 * 5, 1 << 20])
def test_it_is_torchs_own_loss(
    dtype: torch.dtype,
    smoothing: float,
    bias: bool,  # noqa: FBT001
    chunk: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cross_entropy, "_CHUNK", chunk)
    features, weight, offsets, target = inputs(dtype, bias=bias)
    wanted_of = [tensor for tensor in (features, weight, offsets) if tensor is not None]
    found = projected_cross_entropy(features, weight, offsets, target, smoothing=smoothing, ignore=PAD)
    wanted = plain_projected_cross_entropy(features, weight, offsets, target, smoothing=smoothing, ignore=PAD)
    torch.testing.assert_close(found.total, wanted.total)
    torch.testing.assert_close(found.each, wanted.each)
    assert not found.each.requires_grad
    gradients = torch.autograd.grad(3 * found.total, wanted_of)
    for one, other in zip(gradients, torch.autograd.grad(3 * wanted.total, wanted_of), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 63, 10_000])
@pytest.mark.parametrize("scale", [0.1, 5.0, 300.0])
def test_the_loop_is_the_formula_for_any_size_and_any_logits(size: int, scale: float) -> None:
    torch.manual_seed(0)
    logits, target = torch.randn(9, size) * scale, torch.randint(0, size, (9,))
    exact = logits.double()
    found, wanted = losses_and_gradient(logits, target, 0.1), plain_losses_and_gradient(exact, target, 0.1)
    torch.testing.assert_close(found, wanted.float(), rtol=1e-5, atol=1e-5 + 1e-6 * scale)
    torch.testing.assert_close(logits, exact.float(), rtol=1e-4, atol=3e-6)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_a_number_shows(bad: float) -> None:
    logits = torch.randn(3, 20)
    logits[1, 7] = bad
    losses = losses_and_gradient(logits, torch.tensor([1, 2, 3]), 0.0)
    assert losses.isfinite().tolist() == [True, False, True]


def test_nothing_to_learn_from_is_no_loss() -> None:
    features, weight, _, target = inputs(torch.float32, bias=False)
    found = projected_cross_entropy(features, weight, None, torch.zeros_like(target), ignore=PAD)
    assert found.total == 0
    found.total.backward()
    assert features.grad is not None
    assert not features.grad.any()


def test_no_gradient_is_computed_when_none_is_wanted() -> None:
    features, weight, _, target = inputs(torch.float32, bias=False)
    with torch.no_grad():
        found = projected_cross_entropy(features, weight, None, target, ignore=PAD)
    assert not found.total.requires_grad


def test_the_gradient_serves_once() -> None:
    features, weight, _, target = inputs(torch.float32, bias=False)
    total = projected_cross_entropy(features, weight, None, target, ignore=PAD).total
    total.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="can be had once"):
        total.backward()


def test_the_logits_of_all_tokens_never_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_entropy, "_CHUNK", 17 * 10)
    features, weight, _, target = inputs(torch.float32, bias=False, tokens=400)
    with Watch() as watch:
        projected_cross_entropy(features, weight, None, target, ignore=PAD).total.backward()
    assert watch.largest <= max(17 * 10, features.numel())
    with Watch() as watch:
        plain_projected_cross_entropy(features, weight, None, target, ignore=PAD).total.backward()
    assert watch.largest >= 17 * 400  # so the watch would have seen them
