"""The short way through a Transformer decoder, and sequences that share a source."""

import pytest
import torch
from torch import nn

from saccade.nets import TransformerDecoder, transformer_steps
from saccade.nets._kernels.project import project
from saccade.nets.transformer_steps import StepState
from tests.nets.makers import SETTINGS, small_batch, small_net
from tests.runtime.native import loops

__all__ = ["loops"]

LENGTHS = [(7, 6), (3, 6), (1, 6)]
SHORT = [
    f"transformer {norm} {positions}" for norm in ("pre", "post") for positions in ("sinusoidal", "learned", "none")
]


def test_which_decoders_go_the_short_way() -> None:
    for name in SETTINGS:
        decoder = small_net(name).decoder
        batch = small_batch(LENGTHS)
        if isinstance(decoder, TransformerDecoder):
            net = small_net(name)
            with torch.no_grad():
                state = net.decoder.start(net.encode(batch.source, batch.source_lengths))
            assert isinstance(state, StepState) == (name in (*SHORT, "transformer dot"))
            state = net.decoder.start(net.encode(batch.source, batch.source_lengths))
            assert not isinstance(state, StepState), "a gradient is wanted"


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("few_rows", [0, 64])
@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("name", [*SHORT, "transformer dot"])
def test_every_short_way_leads_to_the_same(
    name: str,
    few_rows: int,
    need_weights: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All layers in one call, layer by layer in loops, layer by layer in torch's operations; longer than the cache."""
    monkeypatch.setattr(transformer_steps, "FEW_ROWS", few_rows)
    monkeypatch.setattr(transformer_steps, "_FIRST_PLACES", 2)
    net, batch = small_net(name), small_batch(LENGTHS)
    with torch.no_grad():
        wanted = net(batch, need_weights=True)
        logits = net.decoder.output(wanted.features)
        state = net.decoder.start(net.encode(batch.source, batch.source_lengths))
        for t in range(6):
            step = net.decoder.step(batch.previous[:, t], state, need_weights=need_weights)
            state = step.state
            torch.testing.assert_close(step.logits, logits[:, t], atol=2e-4, rtol=1e-4)
            if need_weights:
                assert wanted.weights is not None
                torch.testing.assert_close(step.weights, wanted.weights[:, :, :, t], atol=1e-5, rtol=1e-4)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize(
    ("name", "few_rows"), [*((name, 64) for name in SETTINGS), *((name, 0) for name in (*SHORT, "transformer dot"))]
)
def test_copies_go_their_own_ways(name: str, few_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sequences that share a source: they part, are reordered among themselves, lose a neighbour sentence."""
    monkeypatch.setattr(transformer_steps, "FEW_ROWS", few_rows)
    monkeypatch.setattr(transformer_steps, "_FIRST_PLACES", 2)
    net, batch = small_net(name), small_batch(LENGTHS)
    copies = 2
    tokens = torch.tensor([[4, 5, 6, 7, 8, 9], [5, 6, 7, 8, 9, 4], [6, 7, 8, 9, 4, 5], [7, 8, 9, 4, 5, 6]])
    orders = [[1, 0, 2, 2, 5, 4], [0, 0, 3, 2, 4, 5], [2, 3, 4, 4], [1, 0, 3, 3]]  # the first sentence goes
    with torch.no_grad():
        encoded = net.encode(batch.source, batch.source_lengths)
        together = net.decoder.start(encoded, copies=copies)
        apart = net.decoder.reorder(net.decoder.start(encoded), torch.arange(3).repeat_interleave(copies))
        rows = 3 * copies
        for step_tokens, order in zip(tokens, orders, strict=True):
            one = net.decoder.step(step_tokens[:rows], together)
            other = net.decoder.step(step_tokens[:rows], apart)
            rows = len(order)
            torch.testing.assert_close(one.logits, other.logits, atol=2e-4, rtol=1e-4)
            index = torch.tensor(order)
            together, apart = net.decoder.reorder(one.state, index), net.decoder.reorder(other.state, index)


@pytest.mark.parametrize("name", SHORT)
def test_the_short_way_in_double_precision(name: str) -> None:
    """Where no loop goes, and padding and beams have masks."""
    net, batch = small_net(name).double(), small_batch(LENGTHS)
    with torch.no_grad():
        wanted = net.decoder.output(net(batch).features)
        state = net.decoder.start(net.encode(batch.source, batch.source_lengths), copies=2)
        for t in range(3):
            step = net.decoder.step(batch.previous[:, t].repeat_interleave(2), state)
            state = step.state
            torch.testing.assert_close(step.logits, wanted[:, t].repeat_interleave(2, dim=0))


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("rows", [1, 2, 3, 8, 9, 40])
@pytest.mark.parametrize("bias", [False, True])
def test_the_output_layer_is_the_output_layer(rows: int, bias: bool) -> None:  # noqa: FBT001
    torch.manual_seed(0)
    for size in (1, 3, 33, 100):
        output, features = nn.Linear(10, size, bias=bias), torch.randn(rows, 10)
        with torch.no_grad():
            torch.testing.assert_close(project(features, output), output(features), atol=1e-5, rtol=1e-5)
        assert project(features, output).requires_grad
