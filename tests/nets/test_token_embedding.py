"""Embeddings and their positions, added or side by side."""

from typing import Any

import pytest
import torch
from torch import nn

from saccade.attention import sinusoids
from saccade.nets.transformer import LayerShape, TokenEmbedding

DIM, SIZE, LENGTH = 12, 17, 5


def embed(positions: str, combine: str) -> tuple[TokenEmbedding, torch.Tensor, torch.Tensor]:
    """The module, some tokens, and the positions `[T, D]` that it should know, counted from 3."""
    torch.manual_seed(5)
    values: dict[str, Any] = {"positions": positions, "positions_combine": combine}
    shape = LayerShape(DIM, 3, 7, "pre", score="dot", activation="relu", dropout=0.0, attention_dropout=0.0, **values)
    module = TokenEmbedding(nn.Embedding(SIZE, DIM), shape, max_length=11)
    known = dict(module.named_parameters()).get("positions.table")
    where = sinusoids(torch.arange(11), DIM) if known is None else known
    return module, torch.randint(SIZE, (2, LENGTH)), where[3 : 3 + LENGTH]


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_positions_are_added(positions: str) -> None:
    module, tokens, where = embed(positions, "add")
    torch.testing.assert_close(module(tokens, start=3), DIM**0.5 * module.embedding.weight[tokens] + where)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_positions_stand_beside(positions: str) -> None:
    """W [x, p]: what W has for the embedding, times that, and what it has for positions, times those."""
    module, tokens, where = embed(positions, "concatenate")
    assert module.projection is not None
    of_word, of_place = module.projection.weight.split(DIM, dim=1)
    wanted = DIM**0.5 * module.embedding.weight[tokens] @ of_word.t() + where @ of_place.t()
    torch.testing.assert_close(module(tokens, start=3), wanted)


def test_what_a_layer_reads_is_as_large_in_both_ways() -> None:
    """Embeddings begin with a variance of 1 / D, sinusoids have one of 1/2: both sums have one of about 1."""
    torch.manual_seed(0)
    for combine in ("add", "concatenate"):
        values: dict[str, Any] = {"positions_combine": combine}
        shape = LayerShape(256, 4, 7, "pre", "sinusoidal", "dot", "relu", 0.0, 0.0, **values)
        embedding = nn.Embedding(100, 256)
        nn.init.normal_(embedding.weight, std=256**-0.5)
        x = TokenEmbedding(embedding, shape, max_length=64)(torch.arange(64)[None])
        assert 0.8 < x.std() < 1.3
