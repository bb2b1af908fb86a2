"""Positions: the formula, and what one wants of an encoding."""

import math

import pytest
import torch

from saccade.attention import Dot, Learned, Rotary, Sinusoidal, attend, sinusoids

DIM = 16


def table(length: int, *, start: int = 0) -> torch.Tensor:
    """What Sinusoidal adds to each of `length` positions."""
    return Sinusoidal(DIM)(torch.zeros(1, length, DIM), start=start)[0]


def test_sinusoids_are_the_formula() -> None:
    found = table(50)
    for position in range(50):
        for i in range(DIM // 2):
            angle = position / 10000 ** (2 * i / DIM)
            assert found[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-6)
            assert found[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_unique() -> None:
    """No two of 5,000 positions are nearly the same."""
    distances = torch.cdist(table(5000).double(), table(5000).double()).fill_diagonal_(math.inf)
    assert distances.min() > 0.1


def test_consistent_distances() -> None:
    """How far apart two positions are does not depend on where they stand, and nearest is nearest."""
    encodings = sinusoids(torch.arange(400, dtype=torch.float64), DIM)
    for offset in (1, 3, 10, 100):
        distances = (encodings[offset:] - encodings[:-offset]).norm(dim=-1)
        torch.testing.assert_close(distances, distances[:1].expand_as(distances))
    assert (encodings[1] - encodings[0]).norm() < (encodings[3] - encodings[0]).norm()


def test_bounded_and_usable_past_the_trained_length() -> None:
    far = table(10, start=100_000)
    assert far.abs().max() <= 1
    torch.testing.assert_close(far, sinusoids(torch.arange(100_000, 100_010), DIM))
    exact = torch.tensor([math.sin(100_007 / 10000 ** (2 * i / DIM)) for i in range(DIM // 2)])
    torch.testing.assert_close(far[7, 0::2], exact, atol=1e-6, rtol=0)


def test_deterministic_and_without_parameters() -> None:
    layer = Sinusoidal(DIM)
    assert not list(layer.parameters())
    assert torch.equal(table(30), table(30))
    assert torch.equal(table(30)[10:], table(20, start=10))


def test_half_precision_does_not_lose_count() -> None:
    """bfloat16 cannot count past 256; the encoding can."""
    x = torch.zeros(1, 2, DIM, dtype=torch.bfloat16)
    found = Sinusoidal(DIM)(x, start=1001)[0]
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), table(2, start=1001), atol=0.01, rtol=0)


@pytest.mark.parametrize("layer", [Sinusoidal(6, combine="concatenate"), Learned(6, 20, combine="concatenate")])
def test_concatenated(layer: torch.nn.Module) -> None:
    x = torch.randn(2, 5, 4)
    found = layer(x)
    assert found.shape == (2, 5, 10)
    torch.testing.assert_close(found[..., :4], x)
    torch.testing.assert_close(found[0, :, 4:], found[1, :, 4:])
    assert not torch.equal(found[0, 0, 4:], found[0, 1, 4:])


def test_learned_positions_are_learned_and_start_where_told() -> None:
    layer, x = Learned(4, 20), torch.randn(2, 5, 4)
    torch.testing.assert_close(layer(x, start=3), x + layer.table[3:8])
    layer(x, start=3).sum().backward()
    assert layer.table.grad is not None
    assert layer.table.grad.any(-1).nonzero().flatten().tolist() == [3, 4, 5, 6, 7]


def test_rotary_turns_and_does_not_stretch() -> None:
    x = torch.randn(2, 7, DIM)
    turned = Rotary(DIM)(x)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(turned[:, 0], x[:, 0])
    pair = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    angles = torch.tensor([[s / 10000 ** (2 * i / DIM) for i in range(DIM // 2)] for s in range(7)])
    wanted = torch.view_as_real(pair * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
    torch.testing.assert_close(turned, wanted)


def test_rotary_products_know_only_the_distance() -> None:
    rotary = Rotary(DIM)
    query, key = torch.randn(1, 1, DIM).double(), torch.randn(1, 1, DIM).double()
    products = [(rotary(query, start=s + 4) * rotary(key, start=s)).sum() for s in (0, 5, 1000)]
    torch.testing.assert_close(products[1], products[0])
    torch.testing.assert_close(products[2], products[0])
    assert not torch.isclose((rotary(query, start=5) * rotary(key)).sum(), products[0])


def test_positions_tell_attention_the_order() -> None:
    """Without them, a permutation of the keys changes nothing; with them it does."""
    items, order = torch.randn(1, 6, DIM), torch.tensor([5, 3, 1, 0, 2, 4])
    query = torch.randn(1, 1, DIM)

    def context(keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return attend(query, keys, values, score=Dot()).context

    torch.testing.assert_close(context(items[:, order], items[:, order]), context(items, items))
    layer = Sinusoidal(DIM)
    assert not torch.allclose(context(layer(items[:, order]), items[:, order]), context(layer(items), items))


def test_positions_that_were_kept_are_those_that_are_computed() -> None:
    """First asked for without a gradient, then with one; token by token, then at once; beyond what is kept."""
    layer, turned = Sinusoidal(6), Rotary(6)
    with torch.inference_mode():
        pieces = [layer(torch.zeros(1, 1, 6), start=start) for start in range(70)]
        turned(torch.ones(1, 1, 6), start=69)
    x = torch.zeros(1, 70, 6, requires_grad=True)
    whole = layer(x)
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, rtol=0, atol=0)
    torch.testing.assert_close(whole[0], sinusoids(torch.arange(70), 6), rtol=0, atol=0)
    (whole.sum() + turned(x).sum()).backward()
    far = layer(torch.zeros(1, 3, 6), start=50_000)
    torch.testing.assert_close(far[0], sinusoids(torch.arange(50_000, 50_003), 6))
    half = layer(torch.zeros(1, 3, 6, dtype=torch.float64))
    torch.testing.assert_close(half[0], sinusoids(torch.arange(3, dtype=torch.float64), 6), rtol=0, atol=0)
