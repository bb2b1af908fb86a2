"""torch's own quantization of the linear layers of a trained net, which finds them by their class."""

import pytest
import torch
from torch import Tensor, nn
from torch.ao.nn.quantized.dynamic import Linear as QuantizedLinear
from torch.ao.quantization import quantize_dynamic

from saccade.attention import Additive, Attention, MultiHead, padding_mask
from saccade.decode import beam_search
from saccade.tasks.translation.net import TranslationNet
from tests.attention.helpers import relative_error
from tests.nets.makers import SETTINGS, small_batch, small_net

pytestmark = [
    pytest.mark.skipif("x86" not in torch.backends.quantized.supported_engines, reason="no such products here"),
    pytest.mark.filterwarnings("ignore:torch.ao.quantization is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning"),
]

RECURRENT = {nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell}


def kinds(net: nn.Module) -> list[type[nn.Module]]:
    """The classes of all its linear layers."""
    return [type(part) for part in net.modules() if isinstance(part, nn.Linear | QuantizedLinear)]


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(
    "layer",
    [MultiHead(12, 3), MultiHead(12, 2, score=Additive(6, 6)), Attention(Additive(12, 12))],
    ids=["heads", "additive heads", "additive"],
)
def test_attention(layer: nn.Module, need_weights: bool) -> None:  # noqa: FBT001
    torch.manual_seed(3)
    quantized = quantize_dynamic(layer.eval(), {nn.Linear})
    assert set(kinds(quantized)) == {QuantizedLinear}
    assert len(kinds(quantized)) == len(kinds(layer))
    x, mask = torch.randn(2, 5, 12), padding_mask(torch.tensor([5, 3]))
    with torch.no_grad():
        found, wanted = (one(x, x, mask=mask, need_weights=need_weights) for one in (quantized, layer))
    assert 0 < relative_error(found.context, wanted.context) < 0.05
    if need_weights:
        assert 0 < relative_error(found.weights, wanted.weights) < 0.05


def logits(net: TranslationNet, lengths: list[tuple[int, int]]) -> Tensor:
    batch = small_batch(lengths)
    encoded = net.encode(batch.source, batch.source_lengths)
    return net.decoder.output(net.decoder(encoded, batch.target).features)


@pytest.mark.parametrize("classes", [{nn.Linear}, {nn.Linear, *RECURRENT}], ids=["linear", "recurrent, too"])
@pytest.mark.parametrize("name", [name for name in SETTINGS if "hard" not in name and "through" not in name])
def test_nets(name: str, classes: set[type[nn.Module]]) -> None:
    """Forward and in a search: whatever computes with weights by itself sees that these are no weights any more."""
    net = small_net(name, sharpness=0.7)
    with torch.no_grad():
        quantized = quantize_dynamic(net, classes)
        assert set(kinds(quantized)) == {QuantizedLinear}
        found, wanted = logits(quantized, [(7, 5), (3, 4)]), logits(net, [(7, 5), (3, 4)])
        assert 0 < relative_error(found, wanted) < 0.1
        batch = small_batch([(7, 2), (3, 2)])
        searched = [
            beam_search(one.decoder, one.encode(batch.source, batch.source_lengths), beam=3, limits=[6, 6])
            for one in (quantized, net)
        ]
    for ours, theirs in zip(*searched, strict=True):
        assert ours[0].score == pytest.approx(theirs[0].score, rel=0.1)
