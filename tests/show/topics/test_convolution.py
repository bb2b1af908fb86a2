"""Convolution: the sliding filter against loops, sizes against counting."""

import re

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from saccade.show import Matrix, Table, Text, make_lesson
from saccade.show.topics import convolution
from saccade.show.topics.convolution import FILTER, SIZES


def slid(image: NDArray[np.float32], kernel: NDArray[np.float32], stride: int, padding: int) -> NDArray[np.float32]:
    """By the formula, with loops."""
    image = np.pad(image, padding)
    starts = [[n for n in range(0, side, stride) if n + len(kernel) <= side] for side in image.shape]
    size = len(kernel)
    return np.array([[(image[i : i + size, j : j + size] * kernel).sum() for j in starts[1]] for i in starts[0]])


@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (2, 1), (3, 2)])
def test_the_filter_slides_as_the_formula_says(stride: int, padding: int) -> None:
    rng = np.random.default_rng(1)
    image, kernel = rng.normal(size=(7, 11)).astype(np.float32), rng.normal(size=(3, 3)).astype(np.float32)
    found = convolution.slide(torch.tensor(image), torch.tensor(kernel), stride=stride, padding=padding)
    np.testing.assert_allclose(found, slid(image, kernel, stride, padding), atol=1e-5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_pictures_are_what_the_filter_finds_in_the_first(seed: int) -> None:
    blocks = make_lesson("convolution", seed=seed).blocks
    image, kernel, found, strided = (block.weights for block in blocks if isinstance(block, Matrix))
    assert kernel.tolist() == [list(row) for row in FILTER]
    assert image.max() > 0.9
    np.testing.assert_allclose(found, slid(image, kernel, 1, 0), atol=1e-5)
    np.testing.assert_allclose(strided, slid(image, kernel, 2, 1), atol=1e-5)
    products = next(block for block in blocks if isinstance(block, Table))
    assert products.rows[-1][-1] == f"{found.max():.2f}"
    row, column = (int(number) for number in re.findall(r"\d+", products.caption))
    assert found[row - 1, column - 1] == found.max()
    assert any("number by number" in block.text for block in blocks if isinstance(block, Text))


def test_sizes_are_those_of_counting() -> None:
    table = [block for block in make_lesson("convolution").blocks if isinstance(block, Table)][-1]
    assert len(table.rows) == len(SIZES)
    for size, kernel, padding, stride, formula, ours, torchs in (tuple(map(float, row)) for row in table.rows):
        starts = [n for n in range(0, int(size + 2 * padding), int(stride)) if n + kernel <= size + 2 * padding]
        assert len(starts) == ours == torchs == int(formula)
    assert [row[-1] for row in table.rows if row[0] == "227"] == ["55"]  # AlexNet's


def test_what_no_filter_sees_is_said() -> None:
    (last,) = [block.text for block in make_lesson("convolution").blocks if isinstance(block, Text)][-1:]
    found = [int(number) for number in re.findall(r"\d+", last.partition("as for")[2])]
    size, kernel, stride, unseen, again = found
    seen = {n + step for n in range(0, size - kernel + 1, stride) for step in range(kernel)}
    assert unseen == size - len(seen) > 0
    assert again == size
