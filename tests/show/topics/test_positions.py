"""The four properties of an encoding, measured in another way."""

import numpy as np
import pytest
import torch

from saccade.show import Matrix, Table, make_lesson
from saccade.show.topics.positions import FAR, SENTENCES, SIZE, apart, bits, changing, measured, unevenness
from tests.show.blocks import blocks, column


def reference(positions: "np.ndarray", size: int) -> "np.ndarray":
    """Sines and cosines one at a time."""
    table = np.zeros((len(positions), size))
    for row, position in enumerate(positions):
        for i in range(size // 2):
            angle = position / 10000 ** (2 * i / size)
            table[row, 2 * i], table[row, 2 * i + 1] = np.sin(angle), np.cos(angle)
    return table


def test_the_pictures_are_the_formulas() -> None:
    waves, counter = blocks(make_lesson("positions"), Matrix)
    wanted = reference(np.arange(16), 16)
    np.testing.assert_allclose(waves.weights, np.concatenate((wanted[:, 0::2], wanted[:, 1::2]), axis=1), atol=1e-6)
    for position, row in enumerate(counter.weights):
        assert "".join(str(int(bit)) for bit in row[::-1]) == f"{position:04b}"


def test_bits_are_those_of_the_number() -> None:
    numbers = torch.tensor([0, 5, 255, 256, 9999])
    written = ["".join(str(int(bit)) for bit in reversed(row)) for row in bits(numbers, 0).tolist()]
    assert [int(text, 2) for text in written] == numbers.tolist()


def test_the_waves_have_all_four_properties() -> None:
    waves = measured()["waves"]
    longest = reference(np.arange(max(SENTENCES)), SIZE)
    distances = np.linalg.norm(longest[:, None] - longest[None], axis=-1) + 1e9 * np.eye(len(longest))
    assert apart(waves) == pytest.approx(distances.min())
    assert distances.min() > 1
    assert unevenness(waves) == pytest.approx(1, abs=1e-6)
    assert waves(torch.arange(FAR), FAR).abs().max() <= 1
    assert changing(waves) == 0


def test_the_others_lack_one_as_the_text_says() -> None:
    (table,) = blocks(make_lesson("positions"), Table)
    ways = measured()
    assert unevenness(ways["bits"]) == pytest.approx(3)  # nine bits change at once, where else it is one
    assert unevenness(ways["p / n"]) == pytest.approx(max(SENTENCES) / min(SENTENCES))
    assert column(table, "p")[2] == f"{FAR - 1:,}"
    assert column(table, "learned")[2] == "refused"
    assert changing(ways["learned"]) > 0
    assert [float(cell) for cell in column(table, "waves")[1:]] == [1, 1, 0]
