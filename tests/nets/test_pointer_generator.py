"""The pointer-generator: its mixture beside loops over the formula, its steps beside the whole, and what it copies."""

import math

import pytest
import torch
from torch import Tensor

from saccade.decode import beam_search, greedy_search, sample
from saccade.nets import Copying, PointerGenerator, coverage_loss
from saccade.nets.pointer_generator import log_mixture, target_log_probs
from saccade.tasks.translation.net import TranslationNet, make_net, translation_loss
from saccade.tasks.translation.settings import RnnSettings, TransformerSettings
from saccade.text import END, PAD, START, UNKNOWN, Batch, Example, make_batch

SIZE = 11  # of the vocabulary; the numbers after it are of words that it does not know
SETTINGS: dict[str, RnnSettings | TransformerSettings] = {
    "luong": RnnSettings(kind="rnn", embedding=6, dim=10, order="luong", copying=True),
    "bahdanau": RnnSettings(kind="rnn", embedding=6, dim=10, copying=True),
    "fed coverage": RnnSettings(
        kind="rnn", embedding=6, dim=10, order="luong", input_feeding=True, score="coverage", copying=True
    ),
    "lstm dot": RnnSettings(kind="rnn", cell="lstm", layers=2, embedding=6, dim=10, score="dot", copying=True),
    "transformer": TransformerSettings(
        kind="transformer", layers=3, dim=12, heads=2, feed_forward=7, tie_embeddings="all", copying=True
    ),
    "transformer additive": TransformerSettings(
        kind="transformer", layers=1, dim=12, heads=3, feed_forward=7, score="additive", copying=True
    ),
}
every_net = pytest.mark.parametrize("name", list(SETTINGS))

# Sources with words that are there twice and words that are unknown, each with numbers of its own.
EXAMPLES = [
    Example([5, 11, 6, 11, 12, 7, END], [11, 6, 9, 12, END]),
    Example([8, 8, END], [8, UNKNOWN, 4, END]),
    Example([11, 12, 13, 14, END], [14, 13, END]),
]


def small_net(name: str, *, sharpness: float = 3.0) -> TranslationNet:
    torch.manual_seed(16)
    net = make_net(SETTINGS[name], source_size=SIZE, target_size=SIZE, joint=True)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(sharpness if parameter.dim() > 1 else 1.0)
    return net.eval()


def generator_of(net: TranslationNet) -> PointerGenerator:
    assert isinstance(net.decoder, PointerGenerator)
    return net.decoder


def mixture(logits: Tensor, gate: float, attention: Tensor, copy_ids: list[int], size: int) -> list[float]:
    """P of one position by the formula, number by number, in Python's own floats."""
    scores = [math.exp(x) for x in logits.tolist()]
    p_gen = 1 / (1 + math.exp(-gate))
    found = [p_gen * score / sum(scores) for score in scores] + [0.0] * (size - len(scores))
    for number, weight in zip(copy_ids, attention.tolist(), strict=True):
        found[number] += (1 - p_gen) * weight
    return found


@pytest.mark.parametrize("gate", [-5.0, 0.3, 7.0])
def test_the_mixture_is_that_of_the_formula(gate: float) -> None:
    torch.manual_seed(1)
    copy_ids = torch.tensor([[5, 11, 6, 11, 12, 7, END], [8, 8, END, PAD, PAD, PAD, PAD]])
    attention = torch.rand(2, 7) * (copy_ids != PAD)
    attention /= attention.sum(1, keepdim=True)
    logits, gates = 3 * torch.randn(2, SIZE), torch.tensor([gate, -gate])
    found = log_mixture(logits, gates, attention, copy_ids, unknown=3)
    assert found.shape == (2, SIZE + 3)
    torch.testing.assert_close(found.logsumexp(1), torch.zeros(2))
    copying = Copying(gates[:, None].expand(2, SIZE + 2), attention[:, None].expand(-1, SIZE + 2, -1), copy_ids)
    target = torch.arange(SIZE + 2).expand(2, -1).clone()
    target[1, SIZE:] = END  # the second source has no unknown word
    alone = target_log_probs(logits[:, None].expand(-1, SIZE + 2, -1), copying, target)
    for row in range(2):
        wanted = mixture(logits[row], float(gates[row]), attention[row], copy_ids[row].tolist(), SIZE + 3)
        assert found[row].exp().tolist() == pytest.approx(wanted, rel=1e-5)
        assert alone[row].exp().tolist() == pytest.approx([wanted[number] for number in target[row].tolist()], rel=1e-5)


@every_net
def test_step_by_step_equals_the_whole_target(name: str) -> None:
    net, batch = small_net(name), make_batch(EXAMPLES)
    with torch.no_grad():
        encoded = net.encode(batch.source, batch.source_lengths)
        whole = net.decoder.losses(net(batch), batch.target).each.view_as(batch.target)
        state = net.decoder.start(encoded)
        for t, (previous, target) in enumerate(zip(batch.previous.unbind(1), batch.target.unbind(1), strict=True)):
            step = net.decoder.step(previous, state)
            assert step.logits.shape == (3, SIZE + 4)
            assert step.weights is None
            torch.testing.assert_close(step.logits.logsumexp(1), torch.zeros(3), atol=1e-5, rtol=0)
            log_probs = step.logits.gather(1, target[:, None])[:, 0].masked_fill(target == PAD, 0.0)
            torch.testing.assert_close(-log_probs, whole[:, t], atol=1e-4, rtol=1e-4)
            state = step.state
        torch.testing.assert_close(
            net.decoder.log_prob(encoded, torch.cat([batch.previous[:, :1], batch.target], 1)), -whole.sum(1)
        )


@every_net
def test_a_sequence_does_not_know_its_neighbours(name: str) -> None:
    """Nor how many unknown words they have."""
    net, batch = small_net(name), make_batch(EXAMPLES)
    with torch.no_grad():
        together = net.decoder.losses(net(batch), batch.target).each.view_as(batch.target)
        for row, example in enumerate(EXAMPLES):
            alone = make_batch([example])
            each = net.decoder.losses(net(alone), alone.target).each
            torch.testing.assert_close(each, together[row, : len(example.target)], atol=1e-4, rtol=1e-4)
        limits = [6, 5, 4]
        encoded = net.encode(batch.source, batch.source_lengths)
        found = beam_search(net.decoder, encoded, beam=3, limits=limits)
        for row, example in enumerate(EXAMPLES):
            alone = make_batch([example])
            encoded = net.encode(alone.source, alone.source_lengths)
            ((best,),) = beam_search(net.decoder, encoded, beam=3, limits=limits[row : row + 1])
            assert best.ids == found[row][0].ids
            assert best.score == pytest.approx(found[row][0].score, abs=1e-4)


def always_copying(name: str) -> tuple[TranslationNet, Batch]:
    net = small_net(name)
    with torch.no_grad():
        generator_of(net).gate.weight.zero_()
        generator_of(net).gate.bias.fill_(-200.0)
    return net, make_batch(EXAMPLES)


@every_net
def test_all_searches_write_words_that_the_vocabulary_does_not_know(name: str) -> None:
    """With p_gen = 0, whatever is written is of the source; one of the sources has little else than unknown words."""
    net, batch = always_copying(name)
    with torch.inference_mode():
        encoded = net.encode(batch.source, batch.source_lengths)
    limits = [9, 9, 9]
    found = [one.ids for one in greedy_search(net.decoder, encoded, limits=limits)]
    found += [one.ids for (one,) in beam_search(net.decoder, encoded, beam=2, limits=limits)]
    uniforms = torch.rand(3, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    found += [one.ids for one in sample(net.decoder, encoded, limits=limits, uniforms=uniforms)]
    for number, ids in enumerate(found):
        assert set(ids) <= {*EXAMPLES[number % 3].source, END}
    assert max(map(max, found)) >= SIZE


@pytest.mark.parametrize("name", ["luong", "transformer"])
def test_a_wide_beam_finds_the_best_of_all_outputs(name: str) -> None:
    """Held against every sequence of up to three of the tokens, unknown ones among them."""
    net, batch = small_net(name), make_batch(EXAMPLES[:1])
    tokens = [*range(END + 1, 13)]
    with torch.inference_mode():
        encoded = net.encode(batch.source, batch.source_lengths)
        outputs = [[], *([one] for one in tokens), *([one, other] for one in tokens for other in tokens)]
        likeliest = max(
            (float(net.decoder.log_prob(encoded, torch.tensor([[START, *ids, END]]))), ids) for ids in outputs
        )
    ((best,),) = beam_search(net.decoder, encoded, beam=200, limits=[3], early_stopping=False)
    assert best.ids == [*likeliest[1], END]
    assert best.log_prob == pytest.approx(likeliest[0], abs=1e-4)


@every_net
def test_every_parameter_learns(name: str) -> None:
    net, batch = small_net(name, sharpness=1.0), make_batch(EXAMPLES)
    net.train()
    translation_loss(net, batch, coverage=1.0).backward()
    for parameter_name, parameter in net.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.isfinite().all(), parameter_name
        if not parameter_name.endswith("key_projection.bias"):  # the softmax is blind to it
            assert parameter.grad.any(), parameter_name


@pytest.mark.parametrize("gate", [-200.0, 200.0])
def test_gradients_are_finite_where_there_is_next_to_no_chance(gate: float) -> None:
    """An attention of 0 on the word to copy, logits that differ by hundreds, a gate that is shut."""
    logits = torch.tensor([[[300.0, 0.0, -300.0]] * 4], requires_grad=True)
    attention = torch.tensor([[[0.0, 1.0, 0.0]] * 4], requires_grad=True)
    gates = torch.full((1, 4), gate, requires_grad=True)
    log_probs = target_log_probs(
        logits, Copying(gates, attention, torch.tensor([[3, 4, 1]])), torch.tensor([[3, 4, 2, 1]])
    )
    assert log_probs.isfinite().all()
    log_probs.sum().backward()
    for tensor in (logits, attention, gates):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()


def test_coverage_costs_what_is_looked_at_again() -> None:
    torch.manual_seed(2)
    attention, target = torch.rand(2, 5, 3).softmax(-1), torch.tensor([[7, 5, 6, 8, END], [9, 5, END, PAD, PAD]])
    wanted = 0.0
    for row, length in enumerate((5, 3)):
        covered = [0.0] * 3
        for t in range(length):
            for s in range(3):
                wanted += min(float(attention[row, t, s]), covered[s])
                covered[s] += float(attention[row, t, s])
    assert float(coverage_loss(attention, target)) == pytest.approx(wanted, rel=1e-5)


def test_what_cannot_be_is_refused() -> None:
    net, batch = small_net("luong"), make_batch(EXAMPLES)
    encoded = net.encode(batch.source, batch.source_lengths)
    with pytest.raises(ValueError, match=r"smoothing: found 0\.1, wanted 0"):
        translation_loss(net, batch, smoothing=0.1)
    with pytest.raises(ValueError, match="wanted a source with copy_ids"):
        net.decoder.start(encoded._replace(copy_ids=None))
    assert encoded.repeat(2).copy_ids is not None


def test_a_prefix_may_have_unknown_words() -> None:
    net, batch = small_net("transformer"), make_batch(EXAMPLES[:1])
    with torch.inference_mode():
        encoded = net.encode(batch.source, batch.source_lengths)
        read = net.decoder.start(encoded, prefix=torch.tensor([[START, 12]]))
        state = net.decoder.step(torch.tensor([START]), net.decoder.start(encoded)).state
        state = net.decoder.step(torch.tensor([12]), state).state
        found, wanted = (net.decoder.step(torch.tensor([6]), one).logits for one in (read, state))
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
