"""The encoder's loop for a few tokens, beside its layers in torch's operations."""

from typing import Any

import pytest
import torch

from saccade.nets import TransformerEncoder, few_tokens
from tests.nets.makers import SETTINGS, small_batch, small_net

LENGTHS = [(7, 6), (3, 6), (1, 6)]
TRANSFORMERS = [name for name in SETTINGS if isinstance(small_net(name).encoder, TransformerEncoder)]


@pytest.mark.parametrize("lengths", [LENGTHS, LENGTHS[:1]])
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_the_short_way_leads_to_the_same(
    name: str, lengths: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    net, batch = small_net(name), small_batch(lengths)
    with torch.no_grad():
        short = net.encode(batch.source, batch.source_lengths)
        monkeypatch.setattr(few_tokens, "FEW_TOKENS", 0)
        long = net.encode(batch.source, batch.source_lengths)
    there = long.mask.transpose(1, 2)
    torch.testing.assert_close(short.states * there, long.states * there, atol=2e-5, rtol=1e-4)
    assert (short.mask == long.mask).all()


def test_few_tokens_go_the_short_way_and_many_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    net, taken = small_net("transformer pre sinusoidal"), []
    short_way = few_tokens.encode_few

    def watched(*arguments: Any) -> torch.Tensor | None:
        taken.append(short_way(*arguments) is not None)
        return None

    monkeypatch.setattr("saccade.nets.transformer.encode_few", watched)
    few, many = small_batch(LENGTHS), small_batch([(20, 2)] * 5)
    with torch.no_grad():
        net.encode(few.source, few.source_lengths)
        net.encode(many.source, many.source_lengths)
    net.encode(few.source, few.source_lengths)  # a gradient is wanted
    assert taken == [True]


def test_weights_that_change_are_seen() -> None:
    net, batch = small_net("transformer pre sinusoidal"), small_batch(LENGTHS)

    def encoded() -> torch.Tensor:
        with torch.inference_mode():
            return net.encode(batch.source, batch.source_lengths).states.clone()

    before = encoded()
    assert (encoded() == before).all()
    for parameter in net.parameters():
        parameter.grad = torch.ones_like(parameter)
    torch.optim.Adam(net.parameters(), lr=0.1, fused=True).step()  # which torch's count of changes does not see
    assert not torch.allclose(encoded(), before)
