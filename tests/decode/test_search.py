"""Search, over every decoder, against a search of everything."""

import itertools
import math
from typing import Any

import pytest
import torch

from saccade.base.errors import InputError
from saccade.decode import (
    Hypothesis,
    Trace,
    beam_search,
    coverage_penalty,
    draw,
    greedy_search,
    length_penalty,
    sample,
)
from saccade.nets import Encoded
from saccade.tasks.translation.net import TranslationNet
from saccade.text import END, START
from tests.nets.makers import SETTINGS, TARGET_SIZE, small_batch, small_net

every_decoder = pytest.mark.parametrize("name", list(SETTINGS))
LENGTHS = [(7, 2), (3, 2), (1, 2), (6, 2), (4, 2)]
WRITABLE = range(4, TARGET_SIZE)


def encode(net: TranslationNet, lengths: list[tuple[int, int]] = LENGTHS) -> Encoded:
    batch = small_batch(lengths)
    with torch.no_grad():
        return net.encode(batch.source, batch.source_lengths)


def only(encoded: Encoded, row: int) -> Encoded:
    """One sentence by itself, without padding."""
    length = int(encoded.mask[row].sum())
    final = tuple(part[row : row + 1] for part in encoded.final)
    return Encoded(encoded.states[row : row + 1, :length], encoded.mask[row : row + 1, :, :length], final)


def log_prob(net: TranslationNet, encoded: Encoded, ids: list[int]) -> float:
    """Of a whole output, by reading it at once: nothing of the search is used."""
    with torch.no_grad():
        logits = net.decoder.output(net.decoder(encoded, torch.tensor([[START, *ids[:-1]]])).features)
    return float(logits.log_softmax(-1)[0, torch.arange(len(ids)), torch.tensor(ids)].sum())


def everything(limit: int) -> list[list[int]]:
    """All outputs of at most `limit` tokens, END included."""
    return [[*words, END] for length in range(limit) for words in itertools.product(WRITABLE, repeat=length)]


@every_decoder
def test_greedy_is_a_beam_of_one(name: str) -> None:
    net = small_net(name)
    encoded, limits = encode(net), [9, 5, 7, 1, 9]
    greedy = greedy_search(net.decoder, encoded, limits=limits)
    beam = beam_search(net.decoder, encoded, beam=1, limits=limits)
    for row, ((best,), found) in enumerate(zip(beam, greedy, strict=True)):
        assert found.ids == best.ids
        assert found.score == pytest.approx(best.score, abs=1e-4)
        assert found.score == pytest.approx(log_prob(net, only(encoded, row), found.ids), abs=1e-3)
        assert len(found.ids) <= limits[row]
        assert found.ids[-1] == END
    assert max(len(found.ids) for found in greedy) > 3  # it has something to get wrong


@every_decoder
def test_a_beam_as_wide_as_the_vocabulary_finds_the_best_of_all(name: str) -> None:
    net = small_net(name)
    encoded = encode(net)
    found = beam_search(net.decoder, encoded, beam=TARGET_SIZE, best=3, limits=[2] * len(LENGTHS))
    for row, best in enumerate(found):
        alone = only(encoded, row)
        wanted = sorted(((log_prob(net, alone, ids), ids) for ids in everything(2)), reverse=True)[:3]
        assert [hypothesis.ids for hypothesis in best] == [ids for _, ids in wanted]
        for hypothesis, (score, _) in zip(best, wanted, strict=True):
            assert hypothesis.score == pytest.approx(score, abs=1e-3)


@pytest.mark.parametrize("name", ["rnn additive", "transformer pre sinusoidal"])
@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.0), (1.0, 0.0), (0.6, 0.3)])
def test_with_penalties_too(name: str, alpha: float, beta: float) -> None:
    """Three tokens and END, with a beam that can hold them all: the ranking is the formula's."""
    net = small_net(name, sharpness=2.5)
    encoded = encode(net, [(5, 2), (3, 2)])
    found = beam_search(net.decoder, encoded, beam=400, best=50, limits=[3, 3], alpha=alpha, beta=beta)
    for row, best in enumerate(found):
        alone = only(encoded, row)
        ranked: list[tuple[float, list[int]]] = []
        for ids in everything(3):
            with torch.no_grad():
                previous = torch.tensor([[START, *ids[:-1]]])
                weights = net.decoder(alone, previous, need_weights=True).weights
            assert weights is not None
            seen = weights[0].mean((0, 1)).sum(0)  # over the steps: [S]
            penalty = beta * sum(math.log(min(float(weight), 1.0)) for weight in seen)
            ranked.append((log_prob(net, alone, ids) / ((5 + len(ids)) / 6) ** alpha + penalty, ids))
        ranked.sort(reverse=True)
        assert [hypothesis.ids for hypothesis in best] == [ids for _, ids in ranked[:50]]
        assert [hypothesis.score for hypothesis in best] == pytest.approx([score for score, _ in ranked[:50]], abs=1e-3)


@every_decoder
def test_company_changes_nothing(name: str) -> None:
    """Each sentence by itself, with others, and among others in another order."""
    net = small_net(name)
    lengths = [(2 + (7 * n) % 9, 2) for n in range(64)]
    encoded, limits = encode(net, lengths), [4 + n % 5 for n in range(64)]

    def search(encoded: Encoded, limits: list[int]) -> list[Hypothesis]:
        greedy = greedy_search(net.decoder, encoded, limits=limits)
        return greedy + [best for found in beam_search(net.decoder, encoded, beam=3, limits=limits) for best in found]

    together = search(encoded, limits)
    for row in range(0, 64, 7):
        for index, found in enumerate(search(only(encoded, row), limits[row : row + 1])):
            assert found.ids == together[index * 64 + row].ids
            assert found.score == pytest.approx(together[index * 64 + row].score, abs=1e-3)


@every_decoder
def test_a_prefix_is_kept(name: str) -> None:
    net = small_net(name)
    encoded = encode(net)
    prefixes = [[5, 9], [], [7], [4, 4, 4, 4, 4, 4, 4, 4, 4], [10]]
    limits = [8, 8, 8, 3, 8]  # one leaves no room for its prefix: it gets the room
    greedy = greedy_search(net.decoder, encoded, limits=limits, prefixes=prefixes)
    beam = [found[0] for found in beam_search(net.decoder, encoded, beam=4, limits=limits, prefixes=prefixes)]
    free = [found[0] for found in beam_search(net.decoder, encoded, beam=4, limits=limits)]
    for found in (greedy, beam):
        for row, (hypothesis, prefix) in enumerate(zip(found, prefixes, strict=True)):
            assert hypothesis.ids[: len(prefix)] == prefix
            assert hypothesis.ids[-1] == END
            assert hypothesis.score == pytest.approx(log_prob(net, only(encoded, row), hypothesis.ids), abs=1e-3)
    assert beam[1].ids == free[1].ids
    assert beam[3].ids == [*prefixes[3], END]


def test_special_tokens_are_never_written() -> None:
    net = small_net("rnn additive")
    with torch.no_grad():
        net.decoder.output.bias[:3] += 100.0
    encoded = encode(net)
    for found in beam_search(net.decoder, encoded, beam=3, limits=[6] * 5):
        assert not {0, 1, 2} & set(found[0].ids)
    for found in greedy_search(net.decoder, encoded, limits=[6] * 5):
        assert not {0, 1, 2} & set(found.ids)


def test_a_net_that_gives_no_numbers_does_not_hang() -> None:
    net = small_net("rnn additive")
    with torch.no_grad():
        net.decoder.output.bias.fill_(torch.nan)
    encoded = encode(net)
    assert beam_search(net.decoder, encoded, beam=3, limits=[6] * 5) == [[], [], [], [], []]
    assert all(len(found.ids) <= 6 for found in greedy_search(net.decoder, encoded, limits=[6] * 5))
    drawn = sample(net.decoder, encoded, limits=[6] * 5, uniforms=torch.rand(5, 6, dtype=torch.float64))
    assert all(len(found.ids) <= 6 for found in drawn)


def test_draws_follow_the_distribution() -> None:
    log_probs = torch.tensor([0.5, 0.2, 0.0, 0.3]).log().expand(20_000, 4)
    uniforms = (torch.arange(20_000) + 0.5) / 20_000  # even, so that the shares are exact
    shares = draw(log_probs, uniforms, temperature=1.0, top_k=None, top_p=1.0).bincount(minlength=4) / 20_000
    torch.testing.assert_close(shares, torch.tensor([0.5, 0.2, 0.0, 0.3]), atol=1e-3, rtol=0.0)
    shares = draw(log_probs, uniforms, temperature=0.5, top_k=None, top_p=1.0).bincount(minlength=4) / 20_000
    squares = torch.tensor([0.25, 0.04, 0.0, 0.09])
    torch.testing.assert_close(shares, squares / squares.sum(), atol=1e-3, rtol=0.0)
    shares = draw(log_probs, uniforms, temperature=1.0, top_k=2, top_p=1.0).bincount(minlength=4) / 20_000
    torch.testing.assert_close(shares, torch.tensor([0.625, 0.0, 0.0, 0.375]), atol=1e-3, rtol=0.0)
    for top_p, wanted in ((0.5, [1.0, 0, 0, 0]), (0.51, [0.625, 0, 0, 0.375]), (0.81, [0.5, 0.2, 0, 0.3])):
        shares = draw(log_probs, uniforms, temperature=1.0, top_k=None, top_p=top_p).bincount(minlength=4) / 20_000
        torch.testing.assert_close(shares, torch.tensor(wanted), atol=1e-3, rtol=0.0)


def test_a_draw_does_not_hang_on_the_last_digit() -> None:
    """All but equally likely: rounding, which the neighbours in a batch decide, puts them in another order."""
    torch.manual_seed(0)
    equal, uniforms = torch.full((500, 40), 1 / 40), torch.rand(500, dtype=torch.float64)
    for options in ({}, {"top_k": 60}, {"top_p": 0.99999}):
        drawn = [
            draw((equal + noise).log(), uniforms, **{"temperature": 1.0, "top_k": None, "top_p": 1.0, **options})
            for noise in (0, torch.randn(500, 40) * 1e-8, torch.randn(500, 40) * 1e-8)
        ]
        assert drawn[0].equal(drawn[1])
        assert drawn[0].equal(drawn[2])


def test_uniforms_at_the_ends_fall_on_what_can_be_drawn() -> None:
    log_probs = torch.tensor([[-torch.inf, -1.0, -torch.inf, -2.0, -torch.inf]]).expand(2, 5)
    uniforms = torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64)
    assert draw(log_probs, uniforms, temperature=1.0, top_k=None, top_p=1.0).tolist() == [1, 3]
    assert draw(log_probs, uniforms, temperature=1.0, top_k=1, top_p=1.0).tolist() == [1, 1]


def test_what_looks_at_nothing_covers_nothing() -> None:
    net = small_net("rnn none")
    with pytest.raises(InputError, match="coverage penalty: found one, but this model has no attention"):
        beam_search(net.decoder, encode(net), beam=2, limits=[6] * 5, beta=0.5)


@every_decoder
def test_samples_depend_on_their_uniforms_alone(name: str) -> None:
    net = small_net(name, sharpness=1.0)
    encoded, limits = encode(net), [9] * 5
    uniforms = torch.rand(5, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    together = sample(net.decoder, encoded, limits=limits, uniforms=uniforms)
    for row in range(5):
        (alone,) = sample(net.decoder, only(encoded, row), limits=[9], uniforms=uniforms[row : row + 1])
        assert alone.ids == together[row].ids
    assert len({tuple(found.ids) for found in together}) > 1
    cold = sample(net.decoder, encoded, limits=limits, uniforms=uniforms, top_k=1)
    assert [found.ids for found in cold] == [found.ids for found in greedy_search(net.decoder, encoded, limits=limits)]


def test_penalties() -> None:
    """Wu 2016, by hand."""
    assert length_penalty(7, 0.0) == 1.0
    assert length_penalty(7, 1.0) == pytest.approx(2.0)
    assert length_penalty(19, 0.5) == pytest.approx(2.0)
    coverage = torch.tensor([[0.5, 1.7, 0.25, 0.0]])
    real = torch.tensor([[True, True, True, False]])
    assert float(coverage_penalty(coverage, real, 2.0)) == pytest.approx(2 * (math.log(0.5) + math.log(0.25)))


@pytest.mark.parametrize("name", list(SETTINGS))
def test_prefixes_read_in_one_pass_are_those_forced_step_by_step(name: str) -> None:
    """A search that is traced takes every step; the others read at once what all prefixes have."""
    net, batch = small_net(name), small_batch([(5, 3), (2, 4), (7, 2)])
    prefixes, limits = [[5, 9, 4], [7, 6], [4, 4, 8, 10]], [8, 6, 9]
    with torch.no_grad():
        encoded = net.encode(batch.source, batch.source_lengths)
        options: dict[str, Any] = {"beam": 3, "best": 2, "limits": limits, "prefixes": prefixes, "alpha": 1.0}
        for at_once, by_steps in zip(
            beam_search(net.decoder, encoded, **options),
            beam_search(net.decoder, encoded, **options, trace=Trace()),
            strict=True,
        ):
            for one, other in zip(at_once, by_steps, strict=True):
                assert one.ids == other.ids
                assert one.log_prob == pytest.approx(other.log_prob, abs=1e-3)
                assert one.score == pytest.approx(other.score, abs=1e-3)
