"""What holds for every decoder."""

from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from saccade.nets import Encoded, NoContext, RnnDecoder
from saccade.tasks.translation.net import translation_loss
from saccade.tasks.translation.settings import RnnSettings
from saccade.text import PAD
from tests.nets.makers import SETTINGS, TARGET_SIZE, small_batch, small_net

every_decoder = pytest.mark.parametrize("name", list(SETTINGS))
LENGTHS = [(7, 5), (3, 4), (1, 2), (6, 5)]


@every_decoder
def test_step_by_step_equals_the_whole_target(name: str) -> None:
    """With a cache, one token after another, the decoder says what it says of the target at once."""
    net, batch = small_net(name), small_batch(LENGTHS)
    with torch.no_grad():
        decoder_output = net(batch, need_weights=True)
        wanted = net.decoder.output(decoder_output.features)
        state = net.decoder.start(net.encode(batch.source, batch.source_lengths))
        for t in range(batch.previous.shape[1]):
            step = net.decoder.step(batch.previous[:, t], state, need_weights=True)
            torch.testing.assert_close(step.logits, wanted[:, t], atol=1e-4, rtol=1e-4)
            assert (step.weights is None) == (decoder_output.weights is None)
            if step.weights is not None and decoder_output.weights is not None:
                torch.testing.assert_close(step.weights, decoder_output.weights[:, :, :, t], atol=1e-5, rtol=1e-4)
            state = step.state


@every_decoder
def test_weights_are_those_of_the_source(name: str) -> None:
    net, batch = small_net(name), small_batch(LENGTHS)
    with torch.no_grad():
        with_weights, without = net(batch, need_weights=True), net(batch)
    assert without.weights is None
    torch.testing.assert_close(with_weights.features, without.features, atol=1e-4, rtol=1e-4)
    weights = with_weights.weights
    if {"none", "last", "first"} & set(name.split()) and name.startswith("rnn"):
        assert weights is None
        return
    assert weights is not None
    rows, layers, heads, targets, sources = weights.shape
    assert (rows, targets, sources) == (4, 5, 7)
    assert (layers, heads) == ((1, 1) if name.startswith("rnn") else net_shape(name))
    padding = torch.arange(sources) >= batch.source_lengths[:, None]
    assert not weights[padding[:, None, None, None].expand_as(weights)].any()
    assert (weights >= 0).all()


def net_shape(name: str) -> tuple[int, int]:
    settings = SETTINGS[name]
    assert settings.kind == "transformer"
    return settings.layers, settings.heads


@every_decoder
def test_a_sequence_does_not_know_its_neighbours(name: str) -> None:
    net, batch = small_net(name), small_batch(LENGTHS)
    with torch.no_grad():
        together = net.decoder.output(net(batch).features)
        for row, (source, target) in enumerate(LENGTHS):
            alone = batch._replace(
                source=batch.source[row : row + 1, :source],
                source_lengths=batch.source_lengths[row : row + 1],
                previous=batch.previous[row : row + 1, :target],
            )
            logits = net.decoder.output(net(alone).features)
            torch.testing.assert_close(logits, together[row : row + 1, :target], atol=1e-4, rtol=1e-4)


@every_decoder
def test_no_token_knows_what_comes_after_it(name: str) -> None:
    net, batch = small_net(name), small_batch([(5, 6)])
    changed = batch._replace(previous=batch.previous.clone())
    changed.previous[:, 3:] = 4 + (changed.previous[:, 3:] - 3) % (TARGET_SIZE - 4)
    with torch.no_grad():
        before, after = net(batch).features, net(changed).features
    torch.testing.assert_close(before[:, :3], after[:, :3], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(before[:, 3:], after[:, 3:])


@every_decoder
def test_reordered_states_go_on_in_their_new_order(name: str) -> None:
    net, batch = small_net(name), small_batch(LENGTHS)
    index = torch.tensor([2, 0, 0, 3])
    with torch.no_grad():
        state = net.decoder.start(net.encode(batch.source, batch.source_lengths))
        state = net.decoder.step(batch.previous[:, 0], state).state
        wanted = net.decoder.step(batch.previous[:, 1], state).logits[index]
        found = net.decoder.step(batch.previous[index, 1], net.decoder.reorder(state, index)).logits
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


@every_decoder
def test_every_parameter_learns(name: str) -> None:
    """No part of a net is left out of its loss."""
    net, batch = small_net(name, sharpness=1.0), small_batch([(7, 5), (3, 4), (6, 5), (5, 6)])
    net.train()
    translation_loss(net, batch, smoothing=0.1).backward()
    for parameter_name, parameter in net.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        # the softmax is blind to what is added to all scores
        shifts_all = parameter_name.endswith("key_projection.bias") or "weighting" in parameter_name
        if not shifts_all:
            assert parameter.grad.any(), parameter_name


def test_the_loss_is_the_mean_of_the_tokens_whatever_the_padding() -> None:
    net = small_net("rnn additive")
    whole = translation_loss(net, small_batch([(4, 3)]))
    batch = small_batch([(4, 3)])
    padded = batch._replace(
        source=torch.nn.functional.pad(batch.source, (0, 2), value=PAD),
        previous=torch.nn.functional.pad(batch.previous, (0, 3), value=PAD),
        target=torch.nn.functional.pad(batch.target, (0, 3), value=PAD),
    )
    torch.testing.assert_close(translation_loss(net, padded), whole)


@pytest.mark.parametrize(
    ("name", "at_once"),
    [
        ("rnn soft luong", True),
        ("rnn coverage luong", True),
        ("rnn none", True),
        ("rnn sum", True),
        ("rnn last", True),
        ("rnn lstm first", True),
        ("rnn elman last", True),
        ("rnn static", True),
        ("rnn static local-m", False),
        ("rnn additive", False),
        ("rnn fed", False),
        ("rnn fed none", False),
        ("rnn fed static luong", False),
    ],
)
def test_the_whole_target_is_computed_at_once_where_nothing_forbids_it(name: str, at_once: bool) -> None:  # noqa: FBT001
    net, batch = small_net(name), small_batch(LENGTHS)
    decoder = net.decoder
    assert isinstance(decoder, RnnDecoder)
    assert decoder.at_once == at_once
    calls: list[int] = []
    decoder.rnn.register_forward_hook(lambda module, inputs, output: calls.append(1))
    with torch.no_grad():
        net(batch)
    assert len(calls) == (1 if at_once else batch.target.shape[1])  # one step after the other calls it for each


def test_in_bahdanaus_order_the_top_layer_asks() -> None:
    """Before the step, what is looked at follows from the top layer's last state, and from no other's."""
    net, batch = small_net("rnn lstm"), small_batch(LENGTHS)
    decoder = net.decoder
    assert isinstance(decoder, RnnDecoder)

    def look(layer: int | None) -> Tensor:
        state = decoder.start(net.encode(batch.source, batch.source_lengths))
        hidden = state.hidden[0].clone()
        if layer is not None:
            hidden[layer] += 1.0
        changed = state._replace(hidden=(hidden, *state.hidden[1:]))
        weights = decoder.step(batch.previous[:, 0], changed, need_weights=True).weights
        assert weights is not None
        return weights

    with torch.no_grad():
        torch.testing.assert_close(look(0), look(None))
        assert not torch.allclose(look(-1), look(None), atol=1e-3)


def test_without_context_only_the_last_state_counts() -> None:
    net, batch = small_net("rnn none"), small_batch(LENGTHS)
    with torch.no_grad():
        encoded = net.encode(batch.source, batch.source_lengths)
        other = Encoded(torch.randn_like(encoded.states), encoded.mask, encoded.final)
        torch.testing.assert_close(
            net.decoder(encoded, batch.previous).features, net.decoder(other, batch.previous).features
        )


@pytest.mark.parametrize("wrong", [{"order": "luong"}, {"order": "bahdanau", "input_feeding": True}], ids=str)
def test_what_wants_a_readout_is_refused_without(wrong: dict[str, Any]) -> None:
    settings = {"kind": "rnn", "embedding": 6, "dim": 10, "readout": False}
    with pytest.raises(ValidationError, match="readout: found false, wanted true with order luong or input_feeding"):
        RnnSettings.model_validate(settings | wrong)
    options = {"cell": "gru", "layers": 1, "dropout": 0.0, "readout": False, "input_feeding": False}
    with pytest.raises(ValueError, match="readout: found false, wanted true in the Luong order"):
        RnnDecoder(nn.Embedding(5, 3), 4, context=NoContext(), **options | wrong)


def test_the_sum_is_that_of_the_real_states() -> None:
    net, batch = small_net("rnn sum"), small_batch(LENGTHS)
    decoder = net.decoder
    assert isinstance(decoder, RnnDecoder)
    with torch.no_grad():
        encoded = net.encode(batch.source, batch.source_lengths)
        context = decoder.start(encoded).memory.value
    for row, (source, _) in enumerate(LENGTHS):
        wanted: Tensor = sum((encoded.states[row, s] for s in range(source)), torch.zeros(10))
        torch.testing.assert_close(context[row, 0], wanted)
