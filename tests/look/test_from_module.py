"""Maps of any torch module, beside torch's own weights and a plain softmax."""

import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.base.errors import InputError
from saccade.look import AttentionMap, Grid, from_module
from saccade.look.from_module import fused_weights


def transformer() -> Any:
    torch.manual_seed(1)
    return nn.Transformer(12, 2, 2, 2, 20, batch_first=True).eval()


def test_a_transformer_of_torch() -> None:
    net, source, target = transformer(), torch.rand(2, 5, 12), torch.rand(2, 7, 12)
    causal = nn.Transformer.generate_square_subsequent_mask(7)
    with torch.no_grad():
        before = net(source, target, tgt_mask=causal)
    inputs = {"src": source, "tgt": target, "tgt_mask": causal}
    encoder, decoder, cross = from_module(net, inputs, source=list("abcde"), target=list("1234567"), item=1)
    with torch.no_grad():
        assert torch.equal(net(source, target, tgt_mask=causal), before)
    assert [one.kind for one in (encoder, decoder, cross)] == ["encoder", "decoder", "cross"]
    assert (cross.rows, cross.columns) == (tuple("1234567"), tuple("abcde"))
    assert (decoder.rows, decoder.columns) == (tuple("1234567"),) * 2

    x = source
    for layer, weights in zip(net.encoder.layers, encoder.weights, strict=True):
        wanted = layer.self_attn(x, x, x, need_weights=True, average_attn_weights=False)[1]
        np.testing.assert_allclose(weights, wanted[1].detach().numpy(), atol=1e-6)
        x = layer(x)
    memory, y = net.encoder(source), target
    for layer, looks, back in zip(net.decoder.layers, cross.weights, decoder.weights, strict=True):
        own = layer.self_attn(y, y, y, attn_mask=causal, average_attn_weights=False)
        np.testing.assert_allclose(back, own[1][1].detach().numpy(), atol=1e-6)
        query = layer.norm1(y + own[0])
        wanted = layer.multihead_attn(query, memory, memory, average_attn_weights=False)[1]
        np.testing.assert_allclose(looks, wanted[1].detach().numpy(), atol=1e-6)
        y = layer(y, memory, tgt_mask=causal)


class Vit(nn.Module):
    """A vision Transformer of one layer, by torch's fused attention."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.patches = nn.Conv2d(3, 8, 4, stride=4)
        self.qkv = nn.Linear(8, 24)

    def heads(self, images: Tensor) -> Any:
        x = self.patches(images).flatten(2).mT  # [B, P, D]
        return [part.unflatten(-1, (2, 4)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)]

    def forward(self, images: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(*self.heads(images))


def test_a_vit_over_its_image() -> None:
    net, images = Vit(), torch.rand(1, 3, 12, 16)
    (found,) = from_module(net, [images], source=Grid(3, 4))
    query, key, _ = net.heads(images)
    wanted = (query @ key.mT / 2).softmax(-1)[0].detach().numpy()
    np.testing.assert_allclose(found.weights[0], wanted, atol=1e-6)
    assert found.columns == Grid(3, 4)
    assert found.rows[5] == "row 2, column 2"
    (numbered,) = from_module(net, [images])
    assert list(numbered.column_labels) == [str(number) for number in range(1, 13)]


@pytest.mark.parametrize("case", ["plain", "causal", "boolean", "added", "grouped", "scale"])
def test_weights_are_those_of_the_fused_call(case: str) -> None:
    """Values that are one-hot come out as the weights themselves."""
    torch.manual_seed(3)
    query, key = torch.randn(2, 4, 5, 6), torch.randn(2, 2 if case == "grouped" else 4, 7, 6)
    value = torch.eye(7).expand(*key.shape[:2], 7, 7)
    mask = torch.rand(5, 7) > 0.4
    mask[2] = False  # nowhere to look
    options = {
        "plain": {},
        "causal": {"is_causal": True},
        "boolean": {"attn_mask": mask},
        "added": {"attn_mask": torch.randn(5, 7)},
        "grouped": {"enable_gqa": True},
        "scale": {"scale": 1 / math.sqrt(3)},
    }[case]
    wanted = F.scaled_dot_product_attention(query, key, value, **options).nan_to_num(0.0)
    torch.testing.assert_close(fused_weights(query, key, value, **options), wanted, atol=1e-6, rtol=1e-5)


def test_what_cannot_be_seen_says_so() -> None:
    with pytest.raises(InputError, match="found no attention in it"):
        from_module(nn.Linear(3, 3), [torch.rand(1, 3)])
    with pytest.raises(InputError, match="item: found 3, wanted less than 2"):
        from_module(transformer(), [torch.rand(2, 3, 12), torch.rand(2, 4, 12)], item=3)
    with pytest.raises(InputError, match=r"more than .* weights, with 20,000 queries"):
        from_module(Vit(), [torch.zeros(1, 3, 4, 80_000)])


def test_layers_as_models_give_them() -> None:
    layers: Any = tuple(torch.rand(1, 2, 3, 4, requires_grad=True).softmax(-1) for _ in range(5))
    found = AttentionMap(list("abc"), list("wxyz"), layers)
    np.testing.assert_array_equal(found.weights, torch.cat(layers).detach().numpy())
    wrong: list[tuple[Any, str]] = [
        (tuple(torch.rand(2, 2, 3, 4) for _ in range(2)), "found a batch of 2"),
        ((torch.rand(1, 2, 3, 4), torch.rand(1, 2, 3, 5)), "wanted layers of one shape"),
    ]
    for layers, says in wrong:
        with pytest.raises(InputError, match=says):
            AttentionMap(list("abc"), list("wxyz"), layers)
