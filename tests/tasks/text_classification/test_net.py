"""The nets: those of language models, and convolutions against torch's own."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F

from saccade.base.settings import check_settings
from saccade.nets import make_language_net, previous_of
from saccade.nets.settings import LanguageRnnSettings, LanguageTransformerSettings
from saccade.tasks.text_classification.net import CnnNet, ReaderNet, make_net
from saccade.tasks.text_classification.settings import TextCnnSettings, TextRnnSettings, TextTransformerSettings
from saccade.text import PAD, START, UNKNOWN

SIZE = 13
TRANSFORMER = {"kind": "transformer", "layers": 2, "dim": 8, "heads": 2, "feed_forward": 6, "max_length": 9}
RNN = {"kind": "rnn", "layers": 2, "embedding": 5, "dim": 7, "score": "additive", "max_length": 9}


def keep_states(kept: list[torch.Tensor], module: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> None:
    """A hook that keeps what a module is given."""
    kept.append(given[0])


@pytest.mark.parametrize("kind", ["rnn", "transformer", "transformer both ways"])
def test_it_has_the_weights_of_a_language_model_under_their_names(kind: str) -> None:
    """All but the output's, which the classifier does not have; and it reads the same with them."""
    torch.manual_seed(0)
    if kind == "rnn":
        language = make_language_net(check_settings(LanguageRnnSettings, RNN, where="here"), size=SIZE)
        settings = check_settings(TextRnnSettings, RNN, where="here")
    else:
        language = make_language_net(check_settings(LanguageTransformerSettings, TRANSFORMER, where="here"), size=SIZE)
        values = TRANSFORMER | {"causal": kind == "transformer"}
        settings = check_settings(TextTransformerSettings, values, where="here")
    net = make_net(settings, size=SIZE, labels=3)
    assert isinstance(net, ReaderNet)
    weights = {name: one for name, one in language.state_dict().items() if not name.startswith("output.")}
    assert list(net.decoder.state_dict()) == list(weights)
    net.decoder.load_state_dict(weights)
    if kind != "transformer both ways":
        rows = torch.tensor([[5, 7, 11, 4, 8]])
        wanted = language.eval()(None, previous_of(rows)).features
        seen: list[torch.Tensor] = []
        net.eval().pooling.register_forward_pre_hook(partial(keep_states, seen))
        net(previous_of(rows), torch.tensor([5]))
        torch.testing.assert_close(seen[0], wanted[:, 1:])


def test_a_transformer_both_ways_sees_what_comes_later() -> None:
    """And a causal one does not: with the last state, the first token alone counts for the first state."""
    for causal in (True, False):
        torch.manual_seed(0)
        values = TRANSFORMER | {"causal": causal}
        net = make_net(check_settings(TextTransformerSettings, values, where="here"), size=SIZE, labels=3).eval()
        states: list[torch.Tensor] = []
        net.get_submodule("pooling").register_forward_pre_hook(partial(keep_states, states))
        for last in (5, 6):
            net(torch.tensor([[START, 7, 9, last]]), torch.tensor([4]))
        assert torch.allclose(states[0][:, :2], states[1][:, :2], atol=1e-6) == causal
        assert not torch.allclose(states[0][:, 2], states[1][:, 2], atol=1e-3)


@pytest.mark.parametrize("length", [1, 2, 5, 7])
def test_convolutions_against_unfolded_windows(length: int) -> None:
    torch.manual_seed(2)
    settings = check_settings(TextCnnSettings, {"kind": "cnn", "embedding": 3, "filters": 4}, where="here")
    net = make_net(settings, size=SIZE, labels=2).eval()
    assert isinstance(net, CnnNet)
    tokens = torch.randint(4, SIZE, (length,))
    padded = torch.cat([torch.tensor([START]), tokens, torch.full((3,), PAD)])[None]
    output = net(padded, torch.tensor([length + 1]), need_weights=True)
    vectors = net.embedding(tokens)  # [T, E]
    found: list[torch.Tensor] = []
    for convolution in net.convolutions:
        assert isinstance(convolution, torch.nn.Conv1d)
        assert convolution.bias is not None
        width = convolution.kernel_size[0]
        wide = F.pad(vectors, (0, 0, (width - 1) // 2, width // 2))
        windows = [wide[place : place + width].T.flatten() for place in range(length)]  # [E * width] each
        scores = torch.stack(windows) @ convolution.weight.flatten(1).T + convolution.bias
        found.append(scores.max(0).values.relu())
    torch.testing.assert_close(output.logits[0], net.labels(torch.cat(found)))
    assert output.weights is not None
    torch.testing.assert_close(output.weights.sum(), torch.tensor(1.0))
    assert not output.weights[0, length:].any()


def test_word_dropout_makes_words_unknown_in_training_alone() -> None:
    settings = check_settings(TextCnnSettings, {"kind": "cnn", "word_dropout": 0.5}, where="here")
    net = make_net(settings, size=SIZE, labels=2)
    seen: list[torch.Tensor] = []
    net.get_submodule("embedding").register_forward_pre_hook(partial(keep_states, seen))
    tokens = torch.full((20, 101), 7)
    tokens[:, 0] = START
    torch.manual_seed(0)
    net.train()(tokens, torch.full((20,), 101))
    net.eval()(tokens, torch.full((20,), 101))
    lost = seen[0] == UNKNOWN
    assert 0.45 < lost.float().mean() < 0.55
    assert (seen[0][~lost] == 7).all()
    assert (seen[1] == 7).all()
