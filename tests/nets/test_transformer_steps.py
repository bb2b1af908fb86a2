"""The fast steps of a Transformer decoder, and sequences that share a source."""

import pytest
import torch
from torch import nn

from saccade.attention import Dot, MultiHead
from saccade.nets import Encoded, TransformerDecoder, transformer_steps
from saccade.nets._kernels.project import project
from saccade.nets.transformer import DecoderLayer
from saccade.nets.transformer_steps import StepState, decode_step, start_steps
from saccade.nets.transformer_weights import LayerNormWeights, LayerWeights, LinearWeights, StackWeights, gather
from saccade.tasks.translation.net import TranslationNet
from tests.nets.makers import SETTINGS, small_batch, small_net
from tests.nets.test_fused_encoder import halved
from tests.runtime.native import loops

__all__ = ["loops"]

LENGTHS = [(7, 6), (3, 6), (1, 6)]
FAST = [
    f"transformer {norm} {positions}" for norm in ("pre", "post") for positions in ("sinusoidal", "learned", "none")
]
BESIDE = [name for name in SETTINGS if name.startswith("transformer beside")]  # concatenated: only the input differs


def test_which_decoders_take_the_fast_steps() -> None:
    for name in SETTINGS:
        decoder = small_net(name).decoder
        batch = small_batch(LENGTHS)
        if isinstance(decoder, TransformerDecoder):
            net = small_net(name)
            with torch.no_grad():
                state = net.decoder.start(net.encode(batch.source, batch.source_lengths))
            assert isinstance(state, StepState) == (name in (*FAST, *BESIDE, "transformer dot"))
            state = net.decoder.start(net.encode(batch.source, batch.source_lengths))
            assert not isinstance(state, StepState), "a gradient is wanted"


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("max_fused_rows", [0, 64])
@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("name", [*FAST, *BESIDE, "transformer dot"])
def test_every_fast_path_computes_the_same(
    name: str,
    max_fused_rows: int,
    need_weights: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All layers in one call, layer by layer in loops, layer by layer in torch's operations; longer than the cache."""
    monkeypatch.setattr(transformer_steps, "MAX_FUSED_ROWS", max_fused_rows)
    monkeypatch.setattr(transformer_steps, "_INITIAL_CAPACITY", 2)
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
    ("name", "max_fused_rows"),
    [*((name, 64) for name in SETTINGS), *((name, 0) for name in (*FAST, "transformer dot"))],
)
def test_copies_go_their_own_ways(name: str, max_fused_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sequences that share a source: they part, are reordered among themselves, lose a neighbour sentence."""
    monkeypatch.setattr(transformer_steps, "MAX_FUSED_ROWS", max_fused_rows)
    monkeypatch.setattr(transformer_steps, "_INITIAL_CAPACITY", 2)
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


@pytest.mark.parametrize("name", FAST)
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


def expect_steps_of_the_whole(net: TranslationNet) -> None:
    """Token by token, the decoder gives what it gives for the whole target."""
    batch = small_batch(LENGTHS)
    with torch.no_grad():
        logits = net.decoder.output(net(batch).features)
        state = net.decoder.start(net.encode(batch.source, batch.source_lengths))
        for t in range(4):
            step = net.decoder.step(batch.previous[:, t], state)
            state = step.state
            torch.testing.assert_close(step.logits, logits[:, t], atol=2e-4, rtol=1e-4)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("name", ["transformer pre sinusoidal", "transformer post none"])
def test_layers_need_not_be_alike(name: str) -> None:
    """One of another inner size, as pruning makes it; of another activation; of other heads."""
    net = small_net(name)
    halved(net)
    expect_steps_of_the_whole(net)

    net = small_net(name)
    last_layer(net).feed_forward.activation = nn.GELU()
    expect_steps_of_the_whole(net)

    net = small_net(name)
    for attention in net.decoder.modules():
        if isinstance(attention, MultiHead):
            attention.score = Dot()
    last_layer(net).attention.heads = 1
    expect_steps_of_the_whole(net)


def last_layer(net: TranslationNet) -> DecoderLayer:
    assert isinstance(net.decoder, TransformerDecoder)
    layer = net.decoder.layers[-1]
    assert isinstance(layer, DecoderLayer)
    return layer


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("max_fused_rows", [0, 64])
def test_what_has_no_source_sees_nothing_and_stays_a_number(
    max_fused_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformer_steps, "MAX_FUSED_ROWS", max_fused_rows)
    weights, cross, encoded = some_stack()
    encoded.mask[1] = False
    state = start_steps(weights, cross, encoded, heads=2, copies=1)
    x = torch.randn(3, 6)
    native, _, _ = decode_step(x, state, need_weights=False)
    plain, _, _ = decode_step(
        x, start_steps(without_loops(weights), cross, encoded, heads=2, copies=1), need_weights=True
    )
    assert native.isfinite().all()
    torch.testing.assert_close(native, plain)


@pytest.mark.usefixtures("loops")
def test_weights_that_are_no_numbers_show() -> None:
    """Even where an activation follows, below which nothing is."""
    weights, cross, encoded = some_stack()
    weights.layers[0].inner.weight[2, 3] = torch.nan
    found, _, _ = decode_step(
        torch.randn(3, 6), start_steps(weights, cross, encoded, heads=2, copies=1), need_weights=False
    )
    assert found.isnan().all()


@pytest.mark.usefixtures("loops")
def test_rows_may_lie_as_they_like() -> None:
    weights, cross, encoded = some_stack()
    x = torch.randn(6, 3).t()
    found, wanted = (
        decode_step(rows, start_steps(weights, cross, encoded, heads=2, copies=1), need_weights=False)[0]
        for rows in (x, x.contiguous())
    )
    torch.testing.assert_close(found, wanted)


def some_stack() -> tuple[StackWeights, LinearWeights, Encoded]:
    """One layer for three sentences of four items: D is 6, F is 7."""
    torch.manual_seed(0)

    def matrix(out: int, size: int) -> LinearWeights:
        return LinearWeights(torch.randn(out, size), torch.randn(out))

    norm = LayerNormWeights(torch.ones(6), torch.zeros(6), (6,), 1e-5)
    matrices = (matrix(18, 6), matrix(6, 6)), (matrix(6, 6), matrix(6, 6)), (matrix(7, 6), nn.ReLU(), matrix(6, 7))
    layer = LayerWeights(norm, *matrices[0], norm, *matrices[1], norm, *matrices[2])
    encoded = Encoded(torch.randn(3, 4, 6), torch.ones(3, 1, 4, dtype=torch.bool))
    return gather((layer,), pre_norm=True, scale=1.0), matrix(12, 6), encoded


def without_loops(weights: StackWeights) -> StackWeights:
    return weights._replace(addresses=None)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("max_fused_rows", [0, 64])
def test_wrong_arguments_are_named(max_fused_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With or without loops, and whatever way they go: each of these was read past its end, or would be."""
    monkeypatch.setattr(transformer_steps, "MAX_FUSED_ROWS", max_fused_rows)
    weights, cross, encoded = some_stack()
    states, mask = encoded.states, encoded.mask

    for wrong in (mask[:1], mask[:, :, 1:], mask[:, 0], mask.float()):
        with pytest.raises(ValueError, match=r"mask: found shape .*, wanted \[3, 1, 4\] of torch\.bool"):
            start_steps(weights, cross, Encoded(states, wrong), heads=2, copies=1)
    for wrong in (states.double(), states[0]):
        with pytest.raises(
            ValueError, match=r"states: found shape .*, wanted \[sentences, items, dim\] of torch\.float32"
        ):
            start_steps(weights, cross, Encoded(wrong, mask), heads=2, copies=1)
    with pytest.raises(ValueError, match=r"cross: found .*, wanted torch\.float32 of shapes \[12, 5\] and \[12\]"):
        start_steps(weights, cross, Encoded(states[..., 1:], mask), heads=2, copies=1)
    for heads in (0, -1, 4):
        with pytest.raises(ValueError, match=rf"heads: found {heads}, wanted a number that 6 can be divided by"):
            start_steps(weights, cross, encoded, heads=heads, copies=1)
    with pytest.raises(ValueError, match=r"copies: found 0, wanted at least 1"):
        start_steps(weights, cross, encoded, heads=2, copies=0)

    state = start_steps(weights, cross, encoded, heads=2, copies=2)
    for wrong in (torch.randn(3, 6), torch.randn(6, 5), torch.randn(6, 6).double(), torch.randn(6)):
        with pytest.raises(ValueError, match=r"x: found shape .*, wanted \[6, 6\] of torch\.float32"):
            decode_step(wrong, state, need_weights=False)
    for rows in ([0, 2], [0], [4, 6], [-1, -2], [0.0, 1.0]):
        with pytest.raises(ValueError, match=r"rows: found .*, wanted whole numbers from 0 to 5, 2 of one sentence"):
            state.reorder(torch.tensor(rows))

    layer = weights.layers[0]
    assert layer.cross_query is not None
    for name, part in (("qkv", layer.cross_query), ("inner", layer.qkv), ("outer", layer.inner)):
        with pytest.raises(ValueError, match=rf"layers\[0\]\.{name}: found .* wanted"):
            gather((layer._replace(**{name: part._replace(bias=part.bias[1:])}),), pre_norm=True, scale=1.0)


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
