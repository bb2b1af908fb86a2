"""Products with quantized matrices, against the same sums in Python's whole numbers."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.runtime.linear import is_quantized, linear
from saccade.runtime.prepared import running_in
from saccade.runtime.quantized import Int8Matrix, quantize_rows
from tests.runtime.native import loops

__all__ = ["loops"]

# Rows beyond and below one tile; inputs that do not fill a four, or a vector; outputs that do not fill a block.
SIZES = [(1, 3, 1), (2, 64, 48), (5, 17, 49), (7, 128, 131), (8, 33, 97), (19, 70, 211)]


def by_hand(x: Tensor, weight: Tensor, bias: Tensor | None) -> np.ndarray:
    """Each number by itself: whole numbers from -127 to 127, summed without error, and back."""

    def whole(row: np.ndarray) -> tuple[list[int], float]:
        largest = np.abs(row).max()
        factor = np.float32(127) / largest if largest > 0 else np.float32(0)
        return [round(float(number * factor)) for number in row], float(1 / factor) if largest > 0 else 0.0

    found = np.zeros((len(x), len(weight)))
    for r, row in enumerate(x.numpy()):
        numbers, scale = whole(row)
        for o, output in enumerate(weight.numpy()):
            others, other_scale = whole(output)
            found[r, o] = sum(a * b for a, b in zip(numbers, others, strict=True)) * scale * other_scale
    return found if bias is None else found + bias.numpy()


@pytest.mark.parametrize("sizes", SIZES)
def test_products_are_those_of_whole_numbers(loops: str, sizes: tuple[int, int, int]) -> None:
    rows, inputs, outputs = sizes
    torch.manual_seed(rows)
    x, weight, bias = torch.randn(rows, inputs), torch.randn(outputs, inputs), torch.randn(outputs)
    x[0, 1:] = 0
    weight[-1] = 0
    for added in (bias, None):
        found = Int8Matrix(weight)(x, added)
        np.testing.assert_allclose(found.numpy(), by_hand(x, weight, added), rtol=1e-5, atol=1e-5)


def test_nothing_is_nothing(loops: str) -> None:
    assert Int8Matrix(torch.randn(5, 6))(torch.zeros(3, 6), None).equal(torch.zeros(3, 5))
    assert Int8Matrix(torch.randn(5, 6))(torch.zeros(0, 6), None).shape == (0, 5)


def test_of_no_inputs_there_is_the_bias(loops: str) -> None:
    bias = torch.randn(5)
    matrix = Int8Matrix(torch.randn(5, 0))
    assert matrix(torch.randn(3, 0), bias).equal(bias.expand(3, 5))
    assert matrix(torch.randn(3, 0), None).equal(torch.zeros(3, 5))


@pytest.mark.parametrize("bad", [torch.nan, -torch.nan, torch.inf, -torch.inf])
def test_what_is_no_number_shows(loops: str, bad: float) -> None:
    torch.manual_seed(8)
    weight, x = torch.randn(50, 20), torch.randn(9, 20)
    whole = Int8Matrix(weight)(x, None)
    x[4, 7] = bad
    found = Int8Matrix(weight)(x, None)
    assert found[4].isnan().all()
    assert found[:4].equal(whole[:4])
    assert found[5:].equal(whole[5:])
    weight[31, 2] = bad
    found = Int8Matrix(weight)(x[:4], None)
    assert found[:, 31].isnan().all()
    assert found[:, :31].equal(whole[:4, :31])


def test_numbers_too_small_for_a_scale_are_zero(loops: str) -> None:
    x, weight = torch.randn(3, 7), torch.randn(5, 7)
    assert Int8Matrix(weight)(x * 1e-40, None).equal(torch.zeros(3, 5))
    assert Int8Matrix(weight * 1e-40)(x, None).equal(torch.zeros(3, 5))


def test_one_row_may_come_alone(loops: str) -> None:
    matrix, x = Int8Matrix(torch.randn(5, 7)), torch.randn(7)
    assert matrix(x, None).equal(matrix(x[None], None)[0])


def test_wrong_arguments_are_named(loops: str) -> None:
    matrix, x = Int8Matrix(torch.randn(5, 7)), torch.randn(3, 7)
    for wrong in (x[:, :-1], x.double(), x.long(), x[0, 0]):
        with pytest.raises(ValueError, match=r"x: found shape .*, wanted \[\.\.\., 7\] of torch\.float32"):
            matrix(wrong, None)
    for wrong in (torch.zeros(4), torch.zeros(5, 1), torch.zeros(5).double()):
        with pytest.raises(ValueError, match=r"bias: found shape .*, wanted \[5\] of torch\.float32"):
            matrix(x, wrong)
    for wrong in (torch.randn(7), torch.randn(5, 7).double(), torch.randn(2, 5, 7)):
        with pytest.raises(ValueError, match=r"weight: found shape .*, wanted \[out, in\] of float32"):
            Int8Matrix(wrong)


def test_the_error_is_what_rounding_allows(loops: str) -> None:
    """|Δy| <= Σ_k (|x_k| s_w + |w_k| s_x + s_x s_w / 2) / 2, s being the scales."""
    torch.manual_seed(3)
    x, weight = torch.randn(9, 200), torch.randn(61, 200) * 0.1
    (_, x_scale), (_, w_scale) = quantize_rows(x), quantize_rows(weight)
    found, wanted = Int8Matrix(weight)(x, None), F.linear(x, weight)
    bound = (x.abs().sum(1)[:, None] * w_scale + weight.abs().sum(1) * x_scale[:, None]) / 2
    bound += 200 * x_scale[:, None] * w_scale / 4
    assert bool(((found - wanted).abs() <= bound + 1e-5).all())
    assert (found - wanted).std() < 0.02 * wanted.std()


def test_a_row_does_not_know_its_neighbours(loops: str) -> None:
    torch.manual_seed(4)
    x, matrix = torch.randn(23, 30), Int8Matrix(torch.randn(50, 30))
    together = matrix(x, None)
    for i, row in enumerate(x):
        assert matrix(row[None], None)[0].equal(together[i])


def test_parts_of_a_weight_and_more_dimensions(loops: str) -> None:
    """A slice of a weight lies with gaps between its rows; transposed, its numbers lie apart."""
    torch.manual_seed(5)
    weight, x = torch.randn(20, 30), torch.randn(2, 3, 11)
    part = weight[:, 7:18]
    np.testing.assert_array_equal(Int8Matrix(part)(x, None), Int8Matrix(part.contiguous())(x, None))
    assert Int8Matrix(part)(x, None).shape == (2, 3, 20)
    across = torch.randn(11, 13).t()
    np.testing.assert_array_equal(Int8Matrix(across)(x, None), Int8Matrix(across.contiguous())(x, None))


def test_precision_holds_within_its_block_and_without_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saccade.runtime.linear.MIN_QUANTIZED_WEIGHTS", 1)
    torch.manual_seed(6)
    weight, bias, x = torch.randn(8, 9), torch.randn(8), torch.randn(4, 9)
    exact = F.linear(x, weight, bias)
    rounded = Int8Matrix(weight)(x, bias)
    assert not rounded.equal(exact)
    with torch.no_grad():
        assert linear(x, weight, bias).equal(exact)
        with running_in("int8"):
            assert is_quantized()
            assert linear(x, weight, bias).equal(rounded)
            with running_in("float32"):
                assert linear(x, weight, bias).equal(exact)
        with pytest.raises(KeyError), running_in("int8"):
            raise KeyError
        assert linear(x, weight, bias).equal(exact)
    with running_in("int8"), torch.enable_grad():
        assert not is_quantized()
        assert linear(x, weight, bias).equal(exact)


def test_weights_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole, in part, and another of the same size."""
    monkeypatch.setattr("saccade.runtime.linear.MIN_QUANTIZED_WEIGHTS", 1)
    torch.manual_seed(7)
    weight, other, x = torch.randn(8, 8), torch.randn(8, 8), torch.randn(4, 8)
    with torch.no_grad(), running_in("int8"):
        for one in (weight, other, weight[:4], weight.t(), weight):
            assert linear(x, one).equal(Int8Matrix(one)(x, None))
        assert linear(x[:, :0], weight[:, :0]).equal(torch.zeros(4, 8))
