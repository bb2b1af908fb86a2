"""Rotary positions beside rotary-embedding-torch's: it turns neighbours, x_2i with x_2i+1, as we do and Su 2021."""

import pytest
import torch
from rotary_embedding_torch import RotaryEmbedding

from saccade.attention import MultiHead, Rotary

BATCH, HEADS, ITEMS, DIM = 2, 3, 5, 14


@pytest.mark.parametrize("base", [10000, 500])
@pytest.mark.parametrize("start", [0, 1, 37])
def test_values_and_gradients(start: int, base: int) -> None:
    x = torch.randn(BATCH, HEADS, ITEMS, DIM, requires_grad=True)
    slope = torch.randn_like(x)
    found = Rotary(DIM, base=base)(x, start=start)
    wanted = RotaryEmbedding(DIM, theta=base).rotate_queries_or_keys(x, offset=start)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
    gradients = [torch.autograd.grad(turned, x, slope)[0] for turned in (found, wanted)]
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("queries", [1, 2, ITEMS])
def test_queries_after_a_cache_stand_at_its_end(queries: int) -> None:
    """Where there are fewer queries than keys, the last of both are at one index, in theirs and in our heads."""
    layer = MultiHead(HEADS * DIM, HEADS, rotary=Rotary(DIM))
    x = torch.randn(BATCH, ITEMS, HEADS * DIM)
    found = layer.recall(x[:, -queries:], layer.remember(x), need_weights=True).weights

    def in_heads(x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (HEADS, DIM)).transpose(1, 2)

    theirs = RotaryEmbedding(DIM)
    query, key = theirs.rotate_queries_with_cached_keys(
        in_heads(layer.query_projection(x[:, -queries:])), in_heads(layer.key_projection(x))
    )
    wanted = (query @ key.transpose(-1, -2) / DIM**0.5).softmax(-1)
    assert found is not None
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
