"""The recurrent decoder against the published equations, written out in numpy, in float64."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from saccade.attention import Additive, General, Static
from saccade.nets import AttentionContext, Encoded, RnnDecoder
from saccade.nets.context import FIXED_CONTEXTS, PastContext
from saccade.nets.language import make_language_net
from saccade.nets.settings import LanguageRnnSettings
from saccade.tasks.translation.net import make_net
from saccade.tasks.translation.settings import RnnSettings
from saccade.text import START

Array = NDArray[np.float64]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    return np.exp(x - x.max()) / np.exp(x - x.max()).sum()


def values(module: torch.nn.Module) -> dict[str, Array]:
    return {name: parameter.detach().numpy() for name, parameter in module.named_parameters()}


def gru(x: Array, s: Array, p: dict[str, Array]) -> Array:
    """Cho 2014, with torch's place for the reset gate: after the product with the state."""
    xr, xz, xn = np.split(p["weight_ih_l0"] @ x + p["bias_ih_l0"], 3)
    sr, sz, sn = np.split(p["weight_hh_l0"] @ s + p["bias_hh_l0"], 3)
    r, z = sigmoid(xr + sr), sigmoid(xz + sz)
    return (1 - z) * np.tanh(xn + r * sn) + z * s


def lstm(x: Array, state: tuple[Array, Array], p: dict[str, Array]) -> tuple[Array, Array]:
    """Hochreiter 1997, with a forget gate."""
    s, c = state
    i, f, g, o = np.split(p["weight_ih_l0"] @ x + p["bias_ih_l0"] + p["weight_hh_l0"] @ s + p["bias_hh_l0"], 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def elman(x: Array, s: Array, p: dict[str, Array]) -> Array:
    """Elman 1990: tanh(W x + U s + b)."""
    return np.tanh(p["weight_ih_l0"] @ x + p["bias_ih_l0"] + p["weight_hh_l0"] @ s + p["bias_hh_l0"])


def make(**settings: object) -> tuple[RnnDecoder, torch.Tensor, torch.Tensor | None, Array, list[Array]]:
    """A decoder in float64, its P and α for four tokens, and the encoder's states and last states for a sentence."""
    torch.manual_seed(7)
    chosen = RnnSettings.model_validate({"kind": "rnn", "embedding": 3, "dim": 4, "dropout": 0.0, **settings})
    net = make_net(chosen, source_size=9, target_size=8, joint=False).double().eval()
    decoder = net.decoder
    assert isinstance(decoder, RnnDecoder)
    source = torch.tensor([[4, 8, 5, 7, 3]])
    with torch.no_grad():
        encoded = net.encode(source, torch.tensor([5]))
        decoder_output = decoder(encoded, torch.tensor([[START, 6, 4, 7]]), need_weights=True)
        probabilities = decoder.output(decoder_output.features).softmax(-1)[0]
    finals = [part[0].numpy() for part in encoded.final]
    weights = None if decoder_output.weights is None else decoder_output.weights[0, 0, 0]
    return decoder, probabilities, weights, encoded.states[0].numpy(), finals


def test_bahdanau() -> None:
    """e_ti = vᵀ tanh(W s_t-1 + U h_i), α = softmax(e), c = Σ α h, s_t = GRU([E y, c], s_t-1), P."""
    decoder, probabilities, weights, h, finals = make(score="additive", order="bahdanau")
    # the encoder ends with its last state forward and its first backward
    np.testing.assert_allclose(finals[0], np.concatenate([h[-1, :2], h[0, 2:]]))
    assert isinstance(decoder.context, AttentionContext)
    assert weights is not None
    score = decoder.context.attention.score
    assert isinstance(score, Additive)
    p, a, cell = values(decoder), values(score), values(decoder.rnn)
    s = np.tanh(p["bridges.0.weight"] @ finals[0] + p["bridges.0.bias"])
    for t, y in enumerate([START, 6, 4, 7]):
        embedded = p["embedding.weight"][y]
        e = np.array([a["v"] @ np.tanh(a["query_projection.weight"] @ s + a["key_projection.weight"] @ hi) for hi in h])
        alpha = softmax(e)
        c = alpha @ h
        s = gru(np.concatenate([embedded, c]), s, cell)
        f = np.tanh(p["readout.weight"] @ np.concatenate([s, c, embedded]) + p["readout.bias"])
        np.testing.assert_allclose(weights[t].numpy(), alpha, atol=1e-6)
        wanted = softmax(p["output.weight"] @ f + p["output.bias"])
        np.testing.assert_allclose(probabilities[t].numpy(), wanted, atol=1e-6)


@pytest.mark.parametrize("input_feeding", [False, True])
def test_luong(input_feeding: bool) -> None:  # noqa: FBT001
    """s_t = LSTM([E y, h̃_t-1], s_t-1), e_ti = s_tᵀ W h_i, h̃_t = tanh(W_c [s_t, c_t]), P = softmax(W_s h̃_t)."""
    decoder, probabilities, weights, h, finals = make(
        score="general", order="luong", cell="lstm", input_feeding=input_feeding, bidirectional=False
    )
    assert isinstance(decoder.context, AttentionContext)
    assert weights is not None
    score = decoder.context.attention.score
    assert isinstance(score, General)
    p, cell, w = values(decoder), values(decoder.rnn), values(score)["weight"]
    s = np.tanh(p["bridges.0.weight"] @ finals[0] + p["bridges.0.bias"])
    memory = p["bridges.1.weight"] @ finals[1] + p["bridges.1.bias"]
    attentional = np.zeros(4)
    for t, y in enumerate([START, 6, 4, 7]):
        embedded = p["embedding.weight"][y]
        s, memory = lstm(np.concatenate([embedded, attentional]) if input_feeding else embedded, (s, memory), cell)
        alpha = softmax(np.array([s @ w @ hi for hi in h]))
        attentional = np.tanh(p["readout.weight"] @ np.concatenate([s, alpha @ h]) + p["readout.bias"])
        np.testing.assert_allclose(weights[t].numpy(), alpha, atol=1e-6)
        wanted = softmax(p["output.weight"] @ attentional + p["output.bias"])
        np.testing.assert_allclose(probabilities[t].numpy(), wanted, atol=1e-6)


def static_weights(decoder: RnnDecoder, h: Array) -> Array:
    """α = softmax(vᵀ tanh(U h_i)): what each state counts, for all words."""
    assert isinstance(decoder.context, AttentionContext)
    score = decoder.context.attention.score
    assert isinstance(score, Static)
    a = values(score)
    return softmax(np.array([a["v"] @ np.tanh(a["key_projection.weight"] @ hi) for hi in h]))


# Of (decoder, the encoder's states, what it ends with, the decoder's first state): the weights, if there are any, and
# the context, which is the same at each step.
SAME_AT_EACH_STEP: dict[str, Callable[[RnnDecoder, Array, Array, Array], tuple[Array | None, Array]]] = {
    "none": lambda decoder, h, final, s: (None, np.zeros(0)),
    "last": lambda decoder, h, final, s: (None, final),
    "first": lambda decoder, h, final, s: (None, s),
    "sum": lambda decoder, h, final, s: (np.ones(len(h)), h.sum(0)),
    "mean": lambda decoder, h, final, s: (np.ones(len(h)) / len(h), h.mean(0)),
    "static": lambda decoder, h, final, s: (static_weights(decoder, h), static_weights(decoder, h) @ h),
}


def test_every_context_that_stays_has_a_formula() -> None:
    assert SAME_AT_EACH_STEP.keys() == {*FIXED_CONTEXTS, "static"}


@pytest.mark.parametrize("readout", [True, False])
@pytest.mark.parametrize("cell", ["gru", "elman"])
@pytest.mark.parametrize("score", SAME_AT_EACH_STEP)
def test_contexts_that_stay_the_same(score: str, cell: str, readout: bool) -> None:  # noqa: FBT001
    """s_0 = tanh(B h_T), s_t = cell([E y, c], s_t-1), P = softmax(O tanh(R [s_t, c, E y])), or softmax(O s_t)."""
    decoder, probabilities, weights, h, finals = make(score=score, cell=cell, readout=readout)
    step = {"gru": gru, "elman": elman}[cell]
    p, rnn = values(decoder), values(decoder.rnn)
    s = np.tanh(p["bridges.0.weight"] @ finals[0] + p["bridges.0.bias"])
    alpha, c = SAME_AT_EACH_STEP[score](decoder, h, finals[0], s)
    assert (weights is None) == (alpha is None)
    for t, y in enumerate([START, 6, 4, 7]):
        embedded = p["embedding.weight"][y]
        s = step(np.concatenate([embedded, c]), s, rnn)
        f = np.tanh(p["readout.weight"] @ np.concatenate([s, c, embedded]) + p["readout.bias"]) if readout else s
        wanted = softmax(p["output.weight"] @ f + p["output.bias"])
        np.testing.assert_allclose(probabilities[t].numpy(), wanted, atol=1e-12)
        if weights is not None and alpha is not None:
            np.testing.assert_allclose(weights[t].numpy(), alpha, atol=1e-12)


def test_a_bridge_of_two_layers() -> None:
    """s_0 = tanh(B' tanh(B h_T + b) + b') for both layers of an LSTM, and their cell states without the outer tanh."""
    decoder, _, _, h, finals = make(score="first", cell="lstm", layers=2, bridge="mlp")
    p = values(decoder)
    first = [
        p[f"bridges.{part}.2.weight"] @ np.tanh(p[f"bridges.{part}.0.weight"] @ final + p[f"bridges.{part}.0.bias"])
        + p[f"bridges.{part}.2.bias"]
        for part, final in enumerate(finals)
    ]
    encoded = Encoded(
        torch.tensor(h)[None], torch.ones(1, 1, 5).bool(), tuple(torch.tensor(one)[None] for one in finals)
    )
    with torch.no_grad():
        state = decoder.start(encoded)
    np.testing.assert_allclose(state.hidden[0][:, 0].numpy(), np.tanh(first[0]).reshape(2, 4), atol=1e-12)
    np.testing.assert_allclose(state.hidden[1][:, 0].numpy(), first[1].reshape(2, 4), atol=1e-12)
    np.testing.assert_allclose(state.memory.value[0, 0].numpy(), np.tanh(first[0])[4:], atol=1e-12)  # the top layer's


@pytest.mark.parametrize("window", [None, 2])
def test_attention_to_its_own_past(window: int | None) -> None:
    """s_t = LSTM(E y, s_t-1), e_ti = s_tᵀ W s_i for i < t, h̃_t = tanh(W_c [s_t, Σ α s]), P = softmax(W_s h̃_t)."""
    torch.manual_seed(7)
    settings = LanguageRnnSettings(kind="rnn", embedding=3, dim=4, score="general", window=window)
    decoder = make_language_net(settings, size=8).double().eval()
    assert isinstance(decoder, RnnDecoder)
    assert isinstance(decoder.context, PastContext)
    score = decoder.context.attention.score
    assert isinstance(score, General)
    text = [START, 6, 4, 7, 5]
    with torch.no_grad():
        found = decoder(None, torch.tensor([text]), need_weights=True)
        probabilities = decoder.output(found.features).softmax(-1)[0].numpy()
    assert found.self_weights is not None
    p, cell, w = values(decoder), values(decoder.rnn), values(score)["weight"]
    s, memory, past = np.zeros(4), np.zeros(4), list[Array]()
    for t, y in enumerate(text):
        s, memory = lstm(p["embedding.weight"][y], (s, memory), cell)
        seen = past if window is None else past[-window:]
        alpha = softmax(np.array([s @ w @ before for before in seen])) if seen else np.zeros(0)
        c = alpha @ np.array(seen) if seen else np.zeros(4)
        attentional = np.tanh(p["readout.weight"] @ np.concatenate([s, c]) + p["readout.bias"])
        weights = found.self_weights[0, 0, 0, t].numpy()
        np.testing.assert_allclose(weights[t - len(seen) : t], alpha, atol=1e-6)
        assert not weights[: t - len(seen)].any()
        assert not weights[t:].any()
        wanted = softmax(p["output.weight"] @ attentional + p["output.bias"])
        np.testing.assert_allclose(probabilities[t], wanted, atol=1e-6)
        past.append(s)
