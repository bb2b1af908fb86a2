"""The cost of length: bytes against the formulas, outputs against torch, turns by a clock that the test sets."""

import time
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.show import Curves, make_lesson
from saccade.show.topics import cost
from saccade.show.topics.cost import DIM, LENGTHS

FLOAT = 4  # bytes


def sequence(length: int) -> Tensor:
    return torch.randn(1, length, DIM, generator=torch.Generator().manual_seed(1))


def test_bytes_are_those_of_what_a_backward_pass_needs() -> None:
    x = sequence(7)
    assert cost.kept_bytes(lambda x: x + 1, x) == 0
    assert cost.kept_bytes(torch.exp, x) == FLOAT * 7 * DIM  # its own output
    assert cost.kept_bytes(lambda x: x * x, x) == FLOAT * 7 * DIM  # the input twice, counted once
    linear = nn.Linear(DIM, 3, bias=False)
    assert cost.kept_bytes(linear, x) == FLOAT * (7 * DIM + 3 * DIM)  # the input, and the weights


@pytest.mark.parametrize("length", [131, 263])
def test_all_weights_take_the_square_of_the_length_and_nothing_else_does(length: int) -> None:
    kept = {name: cost.kept_bytes(layer, sequence(length)) for name, layer in cost.kinds_of_layer().items()}
    line = 4 * FLOAT * length * DIM
    assert FLOAT * length**2 <= kept["attention, all weights"] <= FLOAT * length**2 + line
    assert kept["attention, fused"] <= line
    assert kept["RNN"] <= line + 4 * FLOAT * DIM**2  # its parameters among it


def test_both_attentions_are_torchs() -> None:
    x = sequence(17)
    _, full, fused = cost.kinds_of_layer().values()
    wanted = F.scaled_dot_product_attention(x, x, x)
    torch.testing.assert_close(full(x), wanted)
    torch.testing.assert_close(fused(x), wanted)


def test_the_quickest_turn_counts_after_one_to_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now, lasts = 0.0, iter([9.0, 5.0, 3.0, 4.0])

    def call() -> None:
        nonlocal now
        now += next(lasts)

    monkeypatch.setattr(time, "perf_counter", lambda: now)
    assert cost.seconds(call) == 3.0
    assert next(lasts, None) is None


def test_what_is_quick_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    now = calls = 0

    def call() -> None:
        nonlocal now, calls
        now, calls = now + 1, calls + 1

    monkeypatch.setattr(time, "perf_counter", lambda: now / 256)
    assert cost.seconds(call) == 1 / 256
    assert calls == 1 + 3 * 6  # 6 / 256 is the first that is not below 0.02


def test_the_lesson_counts_memory_as_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "LENGTHS", LENGTHS[:5])
    monkeypatch.setattr(cost, "seconds", lambda call: 1.0)
    _, memory = (block for block in make_lesson("cost").blocks if isinstance(block, Curves))
    for name, layer in cost.kinds_of_layer().items():
        assert memory.lines[name][1] == cost.kept_bytes(layer, sequence(LENGTHS[1])) / 1e6
    full, fused = (memory.lines[f"attention, {how}"] for how in ("all weights", "fused"))
    assert all(2.2 < later / earlier < 4.1 for earlier, later in pairwise(full))
    assert all(later / earlier == pytest.approx(2, rel=0.01) for earlier, later in pairwise(fused))
