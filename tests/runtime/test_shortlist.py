"""Of a large product, the top k outputs: against the exact one."""

import pytest
import torch
from torch import Tensor

from saccade.runtime import shortlist
from saccade.runtime.linear import SHORTLIST_AFTER_ROWS, highest_outputs
from saccade.runtime.prepared import running_in
from saccade.runtime.quantized import INT16_NORM, PackedWeight, quantized_library
from saccade.runtime.shortlist import ShortlistMatrix, make_shortlist


def needs_loops() -> None:
    if quantized_library(torch.empty(1)) is None:
        pytest.skip("this machine does not multiply quantized numbers faster")


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_loops()
    monkeypatch.setattr(shortlist, "MIN_WEIGHTS", 0)


def made(weight: Tensor) -> ShortlistMatrix:
    matrix = make_shortlist(weight)
    assert matrix is not None
    return matrix


@pytest.mark.parametrize("sizes", [(1, 3, 1), (2, 64, 48), (5, 17, 49), (8, 33, 97), (19, 70, 211)])
def test_int16_products_are_those_of_whole_numbers(sizes: tuple[int, int, int]) -> None:
    """Each number by itself, in Python's whole numbers, which have no end."""
    needs_loops()
    rows, inputs, outputs = sizes
    torch.manual_seed(rows)
    x, weight, bias = torch.randn(rows, inputs), torch.randn(outputs, inputs), torch.randn(outputs)
    x[0] = 0
    x[0, -1] = -2.0  # one number has all of the length
    weight[0] = x[-1]  # the largest sum that there can be
    library = quantized_library(weight)
    assert library is not None
    found, scales = PackedWeight(weight, library, bits=16).multiply(x, bias)

    def whole(row: Tensor) -> tuple[list[int], list[bool], float]:
        """The numbers, which of them float32 may round the other way, and the scale."""
        length = float(row.double().norm())
        scaled = [number * INT16_NORM / length for number in row.double().tolist()]
        return [round(number) for number in scaled], [abs(a % 1 - 0.5) < 0.01 for a in scaled], length / INT16_NORM

    for r, row in enumerate(x):
        numbers, open_, scale = whole(row)
        assert float(scales[r]) == pytest.approx(scale, rel=1e-5)
        for o, output in enumerate(weight):
            others, other_open, other_scale = whole(output)
            wanted = sum(a * b for a, b in zip(numbers, others, strict=True))
            either_way = sum(abs(b) for b, is_open in zip(others, open_, strict=True) if is_open)
            either_way += sum(abs(a) + 1 for a, is_open in zip(numbers, other_open, strict=True) if is_open)
            sum_found = (float(found[r, o]) - float(bias[o])) / (scale * other_scale)
            assert sum_found == pytest.approx(wanted, abs=either_way + 100 + 1e-5 * abs(wanted))


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("count", [1, 4, 13, 1000, 5000])
def test_the_highest_are_those_of_the_exact_product(count: int, with_bias: bool) -> None:  # noqa: FBT001
    torch.manual_seed(count)
    weight, x = torch.randn(1009, 67) * torch.rand(1009, 1), torch.randn(23, 67)
    bias = torch.randn(1009) if with_bias else None
    exact = x.double() @ weight.double().t() + (0 if bias is None else bias.double())
    found = made(weight).top_k(x, bias, count)
    values, indices = found.topk(min(count, 1009))
    torch.testing.assert_close(values.double(), exact.gather(1, indices), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(values.double(), exact.topk(min(count, 1009)).values, atol=1e-5, rtol=1e-5)
    lengths = x.norm(dim=1)[:, None] * weight.norm(dim=1)
    assert bool(((found - exact).abs() <= lengths * (67**0.5 / INT16_NORM) * 1.01 + 1e-6).all()), (
        "the bound of the docstring"
    )
    assert count >= 1000 or not torch.allclose(found.double(), exact, atol=1e-6), (
        "something is to be left out of the shortlist here"
    )


@pytest.mark.usefixtures("any_size")
def test_the_first_are_exact_however_low_they_are() -> None:
    torch.manual_seed(4)
    weight, x, bias = torch.randn(1009, 67), torch.randn(5, 67), torch.randn(1009)
    bias[:4] = -1000.0
    exact = x.double() @ weight.double().t() + bias.double()
    found = made(weight).top_k(x, bias, 2, always=4).double()
    torch.testing.assert_close(found[:, :4], exact[:, :4], atol=1e-6, rtol=2e-7)
    assert not torch.allclose(found[:, 4:], exact[:, 4:], atol=1e-6)
    few = made(weight[:3]).top_k(x, None, 1, always=4)
    torch.testing.assert_close(few, x @ weight[:3].t())


@pytest.mark.usefixtures("any_size")
def test_what_rounding_puts_in_the_wrong_order() -> None:
    """Outputs so near to each other that those of 16 bits have another order: the exact one counts."""
    torch.manual_seed(1)
    base = torch.randn(1, 64)
    weight, x = base + torch.randn(600, 64) * 3e-5, base + torch.randn(20, 64) * 1e-3
    exact = x.double() @ weight.double().t()
    matrix = made(weight)
    rough, _ = matrix._packed.multiply(x, None)

    def lost(found: Tensor) -> Tensor:
        """How much lower than the highest of a row the one is that was taken for it."""
        return exact.max(1).values - exact.gather(1, found.argmax(1, keepdim=True))[:, 0]

    assert float(lost(rough).max()) > 1e-4, "rounding must be what decides here"
    assert float(lost(matrix.top_k(x, None, 1)).max()) < 2e-5, "float32 itself has no more digits"


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, 1e30])
def test_numbers_that_cannot_be_rounded_are_not(bad: float) -> None:
    torch.manual_seed(2)
    weight, x = torch.randn(300, 9), torch.randn(3, 9)
    whole = x @ weight.t()
    x[1, 4] = bad
    found = made(weight).top_k(x, None, 2)
    torch.testing.assert_close(found[1], weight @ x[1], equal_nan=True)
    torch.testing.assert_close(found[::2].topk(2).values, whole[::2].topk(2).values)
    weight[7, 3] = bad
    found, exact = made(weight).top_k(x, None, 2), x @ weight.t()
    torch.testing.assert_close(found[::2].topk(2), exact[::2].topk(2), equal_nan=True)


@pytest.mark.usefixtures("any_size")
def test_a_row_does_not_know_its_neighbours() -> None:
    torch.manual_seed(3)
    x, matrix = torch.randn(23, 30), made(torch.randn(500, 30))
    together = matrix.top_k(x, None, 5)
    for i, row in enumerate(x):
        assert matrix.top_k(row[None], None, 5)[0].equal(together[i])


def test_when_it_is_worth_it() -> None:
    """Large weights, rows enough, no gradient, float32, and only within the block."""
    needs_loops()
    weight, small = torch.randn(2000, 300), torch.randn(20, 30)
    many, few = torch.randn(SHORTLIST_AFTER_ROWS + 1, 300), torch.randn(SHORTLIST_AFTER_ROWS, 300)

    def shortlists(x: Tensor, by: Tensor = weight) -> bool:
        return highest_outputs(x, by, None, count=3) is not None

    with torch.no_grad():
        assert not shortlists(many)
        with running_in("float32"):
            assert not shortlists(few)
            assert shortlists(few[:1]), "that is one more than few"
            assert not shortlists(many[:, :30], small)
            with torch.enable_grad():
                assert not shortlists(many)
            with running_in("int8"):
                assert not shortlists(many)
        with running_in("float32"):
            assert not shortlists(few), "the weight may have changed since the last block"
            assert shortlists(many)
        assert not shortlists(many.double(), weight.double())


@pytest.mark.usefixtures("any_size")
def test_wrong_arguments_are_named() -> None:
    matrix, x = made(torch.randn(50, 9)), torch.randn(3, 9)
    for count in (0, -1):
        with pytest.raises(ValueError, match=rf"count: found {count}, wanted at least 1"):
            matrix.top_k(x, None, count)
    for wrong in (x[:, 1:], x[0], x.double()):
        with pytest.raises(ValueError, match=r"x: found shape"):
            matrix.top_k(wrong, None, 2)
    with pytest.raises(ValueError, match=r"bias: found shape \[49\]"):
        matrix.top_k(x, torch.zeros(49), 2)
    assert make_shortlist(torch.randn(0, 9)) is None


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("small", [4.5e-23, 1e-22, 1e-19, 1e-30])
def test_rows_whose_length_cannot_be_told_do_no_harm(small: float) -> None:
    """The square of such a length has a few digits, or none: numbers in its scale would leave 16 bits."""
    torch.manual_seed(4)
    weight, x = torch.randn(60, 9), torch.randn(20, 9)
    x[:10] = 0
    x[:10, 3] = small * torch.arange(1, 11)
    found, exact = made(weight).top_k(x, None, 2), x @ weight.t()
    torch.testing.assert_close(found.topk(2).values, exact.topk(2).values, rtol=1e-4, atol=1e-6 * small)
    assert (found[:10].abs() <= 1.01 * x[:10].abs().sum(1, keepdim=True) * weight.abs().max()).all()


def test_without_loops_there_is_nothing_to_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortlist, "quantized_library", lambda weight: None)
    assert make_shortlist(torch.randn(2000, 300)) is None
