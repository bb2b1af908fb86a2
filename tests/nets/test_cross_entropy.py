"""The loss that never has all of its logits."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bench.watch import Watch
from saccade.nets import projected_cross_entropy
from saccade.nets._kernels import cross_entropy
from saccade.nets._kernels.cross_entropy import losses_and_gradient, plain_projected_cross_entropy

PAD = 0


def inputs(dtype: torch.dtype, *, bias: bool, tokens: int = 23) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    torch.manual_seed(4)
    features = torch.randn(tokens, 6, dtype=dtype, requires_grad=True)
    weight = torch.randn(17, 6, dtype=dtype, requires_grad=True)
    offsets = torch.randn(17, dtype=dtype, requires_grad=True) if bias else None
    target = torch.randint(0, 17, (tokens,))
    target[::4] = PAD
    return features, weight, offsets, target


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


@pytest.mark.parametrize("size", [1, 2, 63, 10_000])
@pytest.mark.parametrize("scale", [0.1, 5.0, 300.0])
def test_the_losses_and_their_gradient_are_torchs_for_any_logits(size: int, scale: float) -> None:
    torch.manual_seed(0)
    logits, target = torch.randn(9, size) * scale, torch.randint(0, size, (9,))
    exact = logits.double().requires_grad_()
    # what smoothing says of all logits alike is not in it
    wanted = F.cross_entropy(exact, target, label_smoothing=0.1, reduction="none") + 0.1 * exact.mean(-1)
    wanted.sum().backward()
    assert exact.grad is not None
    found = losses_and_gradient(logits, target, 0.1)
    torch.testing.assert_close(found, wanted.detach().float(), rtol=1e-5, atol=1e-5 + 1e-6 * scale)
    torch.testing.assert_close(logits, exact.grad.float(), rtol=1e-4, atol=3e-6)


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


def test_a_graph_that_is_kept_can_be_differentiated_again_and_in_parts() -> None:
    features, weight, _, target = inputs(torch.float32, bias=False)
    total = projected_cross_entropy(features, weight, None, target, ignore=PAD).total
    (alone,) = torch.autograd.grad(total, features, retain_graph=True)
    total.backward(retain_graph=True)
    (total * 2).backward()
    assert features.grad is not None
    torch.testing.assert_close(features.grad, 3 * alone)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        total.backward()


@pytest.mark.parametrize("number", [-100, -1, 17, 2**40])
def test_a_target_outside_the_vocabulary_is_refused(number: int) -> None:
    features, weight, _, target = inputs(torch.float32, bias=False)
    target[5] = number
    with pytest.raises(ValueError, match=rf"target: found {number}, wanted 0 to 16, or what is ignored"):
        projected_cross_entropy(features, weight, None, target, ignore=PAD)


def test_targets_may_be_of_any_whole_numbers_and_of_the_right_shape_only() -> None:
    features, weight, _, target = inputs(torch.float32, bias=False)
    wanted = projected_cross_entropy(features, weight, None, target, ignore=PAD).total
    assert projected_cross_entropy(features, weight, None, target.int(), ignore=PAD).total == wanted
    for wrong in (target[:-1], target.float(), target[:, None]):
        with pytest.raises(ValueError, match=r"target: found shape .* wanted \[23\] of whole numbers"):
            projected_cross_entropy(features, weight, None, wrong, ignore=PAD)


def test_the_logits_of_all_tokens_never_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_entropy, "_CHUNK", 17 * 10)
    features, weight, _, target = inputs(torch.float32, bias=False, tokens=400)
    with Watch() as watch:
        projected_cross_entropy(features, weight, None, target, ignore=PAD).total.backward()
    assert watch.largest <= max(17 * 10, features.numel())
    with Watch() as watch:
        plain_projected_cross_entropy(features, weight, None, target, ignore=PAD).total.backward()
    assert watch.largest >= 17 * 400  # so the watch would have seen them
