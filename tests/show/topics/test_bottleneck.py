"""The bottleneck: the reading of sentences against numpy's own recurrence, softmax and least squares."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.nets import RnnEncoder
from saccade.show.topics import bottleneck
from saccade.show.topics.bottleneck import ASKED, FITTED, LARGE, SMALL, WORDS

LENGTH = 11
Floats = NDArray[np.float64]


def states_of(encoder: RnnEncoder, words: NDArray[np.int64]) -> Floats:
    """`h = tanh(W x + b + U h + b')`, step by step: `[B, S, D]`."""
    w, u, b, c = (
        encoder.rnn.get_parameter(name).numpy().astype(float)
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    )
    embedded = encoder.embedding.weight.numpy().astype(float)[words]
    h, states = np.zeros((len(words), len(u))), []
    for x in embedded.swapaxes(0, 1):
        h = np.tanh(x @ w.T + b + h @ u.T + c)
        states.append(h)
    return np.stack(states, axis=1)


def share_right(features: Floats, words: NDArray[np.int64]) -> float:
    """How many of the new words numpy's least squares reads right: features `[B, F]`, words `[B]`."""
    with_one = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    weights = np.linalg.lstsq(with_one[:FITTED], np.eye(WORDS)[words[:FITTED]], rcond=None)[0]
    return float((np.argmax(with_one[FITTED:] @ weights, axis=1) == words[FITTED:]).mean())


@pytest.mark.parametrize("seed", [1, 2])
def test_one_vector_is_read_as_numpy_reads_it(seed: int) -> None:
    torch.manual_seed(seed)
    encoder = bottleneck.make_encoder(SMALL)
    words = torch.randint(WORDS, (FITTED + ASKED, LENGTH))
    last = states_of(encoder, words.numpy())[:, -1]
    lengths = torch.full((len(words),), LENGTH)
    found = bottleneck.right_from_one(encoder(words, lengths).states[:, -1], words)
    wanted = [share_right(last, words[:, place].numpy()) for place in range(LENGTH)]
    assert found.shape == (LENGTH,)
    np.testing.assert_allclose(found, wanted, atol=2.5 / ASKED)  # where two words are as likely, rounding decides


def test_attention_looks_at_the_place_that_is_asked_for() -> None:
    place, rate = np.arange(LENGTH)[:, None], 10000 ** (-np.arange(0, 32, 2) / 32)
    encoding = np.stack([np.sin(place * rate), np.cos(place * rate)], axis=-1).reshape(LENGTH, 32)
    scores = np.exp(8 * encoding @ encoding.T)
    wanted = scores / scores.sum(1, keepdims=True)
    np.testing.assert_allclose(bottleneck.look_up(LENGTH), wanted, atol=1e-5)
    assert bottleneck.look_up(LENGTH).diagonal().min() > 0.97
    states = torch.randn(3, LENGTH, 5)
    contexts = bottleneck.attention_to_places(states)
    np.testing.assert_allclose(contexts, np.einsum("ts,bsd->btd", wanted, states.numpy()), atol=1e-5)


def test_one_reader_for_all_places_reads_what_is_there() -> None:
    words = torch.randint(WORDS, (FITTED + ASKED, 3), generator=torch.Generator().manual_seed(1))
    vectors: Tensor = torch.eye(WORDS)[words]
    vectors[:, 1] = 0.0  # there is nothing at the second place
    right = bottleneck.right_from_each(vectors, words)
    assert right[0] == right[2] == 1.0
    assert right[1] == pytest.approx(1 / WORDS, abs=0.06)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_beginning_of_a_long_sentence_is_lost_but_for_attention(seed: int) -> None:
    torch.manual_seed(seed)
    small, large = bottleneck.make_encoder(SMALL), bottleneck.make_encoder(LARGE)
    short, long = bottleneck.read(small, large, 5), bottleneck.read(small, large, 29)
    assert short.small.min() == short.large.min() == 1.0
    assert long.attended.min() > 0.97
    assert 0.3 < long.small.mean() < long.large.mean() < 0.7
    assert long.small[:8].mean() == pytest.approx(1 / WORDS, abs=0.04)  # as good as guessing
    assert long.small[-3:].min() > 0.95
