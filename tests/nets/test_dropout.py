"""Dropout whose masks are computed from indices and seeds."""

import math

import pytest
import torch
from torch.autograd import gradcheck

from saccade.nets import Dropout
from saccade.runtime import torch_only
from saccade.runtime.kernels.dropout import drop, torch_drop

SHAPES = [(0,), (1,), (7, 5), (3, 4, 129), (40_001,)]  # the last is shared between threads, unevenly


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("with_onto", [False, True])
def test_the_loop_computes_the_formula(dtype: torch.dtype, shape: tuple[int, ...], with_onto: bool) -> None:  # noqa: FBT001
    x = torch.randn(shape, dtype=dtype)
    onto = torch.randn(shape, dtype=dtype) if with_onto else None
    for seeds in ((0, 0), (2**32 - 1, 2**32 - 1), (123_456_789, 3_987_654_321)):
        torch.testing.assert_close(drop(x, onto, 0.3, *seeds), torch_drop(x, onto, 0.3, *seeds), rtol=1e-6, atol=1e-7)
        assert (drop(x, None, 0.3, *seeds) == 0).equal(torch_drop(x, None, 0.3, *seeds) == 0)


def test_what_is_not_contiguous_is_read_in_its_order() -> None:
    x, onto = torch.randn(6, 9).t(), torch.randn(9, 1)
    torch.testing.assert_close(drop(x, onto, 0.5, 5, 6), torch_drop(x, onto, 0.5, 5, 6))


@pytest.mark.parametrize("probability", [1 - 2**-34, 1 - 2**-53])
def test_nearly_all_is_all(probability: float) -> None:
    """The threshold would be 2^32, which is 0 in the loop's numbers of 32 bits: nothing would be dropped."""
    assert not drop(torch.ones(1000), None, probability, 1, 2).any()
    assert drop(torch.ones(1000), torch.ones(1000), probability, 1, 2).equal(torch.ones(1000))


def test_wrong_arguments_are_named() -> None:
    x = torch.randn(3, 4)
    with pytest.raises(ValueError, match=r"probability: found nan, wanted 0 to 1"):
        drop(x, None, float("nan"), 1, 2)
    with pytest.raises(ValueError, match=r"second: found 4294967296, wanted a seed of 32 bits"):
        drop(x, None, 0.5, 1, 2**32)
    with pytest.raises(ValueError, match=r"onto: found shape \[3\], wanted one that expands to \[3, 4\]"):
        drop(x, torch.randn(3), 0.5, 1, 2)
    with pytest.raises(ValueError, match=r"onto: found torch\.float64 on cpu, wanted torch\.float32 on cpu"):
        drop(x, x.double(), 0.5, 1, 2)
    with pytest.raises(ValueError, match=r"x: found dtype torch\.int64, wanted floating point numbers"):
        drop(x.long(), None, 0.5, 1, 2)


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.9])
def test_as_many_are_dropped_as_were_asked_for_and_the_mean_stays(probability: float) -> None:
    torch.manual_seed(0)
    dropped = Dropout(probability)(torch.ones(1_000_000))
    spread = 4 * (probability * (1 - probability) / 1_000_000) ** 0.5
    assert abs((dropped == 0).float().mean().item() - probability) < spread
    assert dropped.unique().tolist() == pytest.approx([0, 1 / (1 - probability)])


def test_masks_are_independent_of_each_other_and_of_the_index() -> None:
    torch.manual_seed(0)
    count = 1 << 20
    first, second = ((Dropout(0.5)(torch.ones(count)) > 0).double() - 0.5 for _ in range(2))
    bound = 5 / count**0.5 / 4  # five standard deviations of a mean of products of ±1/2
    for lag in (1, 2, 3, 8, 128, 1000):
        assert abs((first[lag:] * first[:-lag]).mean().item()) < bound
        assert abs((first[lag:] * second[:-lag]).mean().item()) < bound
    assert abs((first * second).mean().item()) < bound
    by_row = first.view(1024, 1024)
    assert by_row.mean(0).abs().max().item() < 6 * 0.5 / 32
    assert by_row.mean(1).abs().max().item() < 6 * 0.5 / 32


def test_gradients_go_where_values_went() -> None:
    torch.manual_seed(3)
    x = torch.randn(50, 3, requires_grad=True)
    onto = torch.randn(50, 3, requires_grad=True)
    dropped = Dropout(0.4)(x, onto=onto)
    grad = torch.randn(50, 3)
    to_x, to_onto = torch.autograd.grad(dropped, (x, onto), grad)
    kept = (dropped - onto).detach() != 0
    torch.testing.assert_close(to_x, grad / 0.6 * kept)
    assert to_onto.equal(grad)


def test_gradcheck() -> None:
    def same_mask(x: torch.Tensor, onto: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(1)
        return Dropout(0.5)(x, onto=onto)

    inputs = (torch.randn(4, 5, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert gradcheck(same_mask, tuple(inputs))


def test_the_layer_acts_in_training_only_and_from_torchs_seed() -> None:
    layer, x, onto = Dropout(0.5), torch.randn(100), torch.randn(100)
    results = []
    for _ in range(2):
        torch.manual_seed(9)
        results.append(layer(x, onto=onto))
    assert results[0].equal(results[1])
    assert not layer(x).equal(layer(x))
    layer.eval()
    assert layer(x) is x
    assert layer(x, onto=onto).equal(onto + x)
    assert Dropout(0.0)(x) is x


def test_threads_change_nothing() -> None:
    x, threads = torch.randn(100_000), torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = drop(x, None, 0.3, 1, 2)
        torch.set_num_threads(2)
        assert drop(x, None, 0.3, 1, 2).equal(one)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("with_onto", [False, True])
@pytest.mark.parametrize("way", ["loop", "torch", "compiled", "mapped"])
def test_to_drop_everything_leaves_nothing(way: str, with_onto: bool, dtype: torch.dtype) -> None:  # noqa: FBT001
    """Not even what is infinite, and no gradient."""
    layer = Dropout(1.0)
    x = torch.randn(3, 5, dtype=dtype)
    x[0, 1], x[1, 2] = math.inf, math.nan
    x.requires_grad_()
    onto = torch.randn(3, 5, dtype=dtype, requires_grad=True) if with_onto else None

    def drop_all(x: torch.Tensor, onto: torch.Tensor | None = None) -> torch.Tensor:
        return layer(x, onto=onto)

    given = (x,) if onto is None else (x, onto)
    if way == "torch":
        with torch_only():
            found = drop_all(*given)
    elif way == "compiled":
        found = torch.compile(drop_all, backend="aot_eager", fullgraph=True)(*given)
    elif way == "mapped":
        found = torch.vmap(drop_all)(*given)
    else:
        found = drop_all(*given)
    assert found.dtype == dtype
    assert found.equal(torch.zeros_like(x) if onto is None else onto)
    to_x, *to_onto = torch.autograd.grad(found.sum(), given)
    assert to_x.equal(torch.zeros_like(x))
    assert all(slope.equal(torch.ones_like(slope)) for slope in to_onto)
