"""The encoder's fused loop for short inputs, beside its layers in torch's operations."""

from typing import Any

import pytest
import torch
from torch import nn

from saccade.nets import TransformerDecoder, TransformerEncoder, fused_encoder
from saccade.nets.fused_encoder import EncoderStack, EncoderWeights, fused_encode, gather_encoder
from saccade.nets.transformer import FeedForward
from saccade.nets.transformer_weights import LayerNormWeights, LinearWeights, step_library
from saccade.tasks.translation.net import TranslationNet
from tests.nets.makers import SETTINGS, small_batch, small_net

LENGTHS = [(7, 6), (3, 6), (1, 6)]
TRANSFORMERS = [name for name in SETTINGS if isinstance(small_net(name).encoder, TransformerEncoder)]


@pytest.mark.parametrize("lengths", [LENGTHS, LENGTHS[:1]])
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_the_fused_path_computes_the_same(
    name: str, lengths: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    net, batch = small_net(name), small_batch(lengths)
    with torch.no_grad():
        fast = net.encode(batch.source, batch.source_lengths)
        monkeypatch.setattr(fused_encoder, "MAX_FUSED_TOKENS", 0)
        plain = net.encode(batch.source, batch.source_lengths)
    there = plain.mask.transpose(1, 2)
    torch.testing.assert_close(fast.states * there, plain.states * there, atol=2e-5, rtol=1e-4)
    assert (fast.mask == plain.mask).all()


def test_short_inputs_are_fused_and_long_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    net, taken = small_net("transformer pre sinusoidal"), []
    fused = fused_encoder.fused_encode

    def watched(*arguments: Any) -> torch.Tensor | None:
        taken.append(fused(*arguments) is not None)
        return None

    monkeypatch.setattr("saccade.nets.transformer.fused_encode", watched)
    short, long = small_batch(LENGTHS), small_batch([(20, 2)] * 5)
    with torch.no_grad():
        net.encode(short.source, short.source_lengths)
        net.encode(long.source, long.source_lengths)
    net.encode(short.source, short.source_lengths)  # a gradient is wanted
    assert taken == [step_library(torch.empty(0)) is not None]


def halved(net: TranslationNet) -> None:
    """The inner size of the last layers, as pruning makes it."""
    for stack in (net.encoder, net.decoder):
        assert isinstance(stack, TransformerEncoder | TransformerDecoder)
        part = stack.layers[-1].feed_forward
        assert isinstance(part, FeedForward)
        size = part.inner.out_features // 2
        part.inner.weight, part.inner.bias = (
            nn.Parameter(part.inner.weight[:size]),
            nn.Parameter(part.inner.bias[:size]),
        )
        part.outer.weight = nn.Parameter(part.outer.weight[:, :size])


def test_layers_need_not_be_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    net, batch = small_net("transformer pre sinusoidal"), small_batch(LENGTHS)
    halved(net)
    with torch.no_grad():
        fast = net.encode(batch.source, batch.source_lengths)
        monkeypatch.setattr(fused_encoder, "MAX_FUSED_TOKENS", 0)
        plain = net.encode(batch.source, batch.source_lengths)
    there = plain.mask.transpose(1, 2)
    torch.testing.assert_close(fast.states * there, plain.states * there, atol=2e-5, rtol=1e-4)


def stack_of(dim: int, inner: int, *, heads: int) -> EncoderStack:
    norm = LayerNormWeights(torch.ones(dim), torch.zeros(dim), (dim,), 1e-5)
    sizes = (3 * dim, dim), (dim, dim), (inner, dim), (dim, inner)
    qkv, self_output, wide, back = (LinearWeights(torch.randn(size), torch.zeros(size[0])) for size in sizes)
    layer = EncoderWeights(norm, qkv, self_output, norm, wide, back)
    return gather_encoder((layer,), pre_norm=True, heads=heads, scale=1.0)


def test_wrong_arguments_are_named() -> None:
    x, mask = torch.randn(2, 5, 6), torch.ones(2, 1, 5, dtype=torch.bool)
    if fused_encode(x, mask, stack_of(6, 7, heads=2)) is None:
        pytest.skip("no native loops here")
    for wrong in (mask[:1], mask[:, :, 1:], mask[:, 0], mask.float()):
        with pytest.raises(ValueError, match=r"mask: found shape .*, wanted \[2, 1, 5\] of torch\.bool"):
            fused_encode(x, wrong, stack_of(6, 7, heads=2))
    with pytest.raises(ValueError, match=r"x: found shape \[2, 5, 6\], wanted \[\.\.\., 8\]"):
        fused_encode(x, mask, stack_of(8, 7, heads=2))
    for heads in (0, -1, 4):
        with pytest.raises(ValueError, match=rf"heads: found {heads}, wanted a number that 6 can be divided by"):
            stack_of(6, 7, heads=heads)


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
