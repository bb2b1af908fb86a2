"""Texts that are longer than the context."""

import pytest
import torch
from torch import Tensor

from saccade.decode import beam_search, greedy_search
from saccade.tasks.language_modeling.scoring import score_stream, score_tokens
from saccade.tasks.language_modeling.sliding import SlidingDecoder
from saccade.text import END, START
from saccade.text.windows import sliding_stride, window_begin
from tests.tasks.language_modeling.makers import CONTEXT, KINDS, small_model

every_kind = pytest.mark.parametrize("name", list(KINDS))


def some_tokens(length: int) -> Tensor:
    """Two streams, each of which begins with a start."""
    torch.manual_seed(8)
    return torch.cat([torch.full((2, 1), START), torch.randint(END + 1, END + 12, (2, length))], dim=1)


def by_hand(name: str, stream: Tensor, token: int, stride: int = sliding_stride(CONTEXT)) -> Tensor:
    """The log probabilities of what stands at `token` in each stream, from its window and nothing else."""
    net = small_model(name).net.eval()
    first = window_begin(token, context=CONTEXT, stride=stride)
    return net.output(net(None, stream[:, first:token]).features[:, -1]).log_softmax(-1)


@every_kind
def test_steps_slide_as_the_windows_say(name: str) -> None:
    """However much of the text was read at once before."""
    decoder, stream = SlidingDecoder(small_model(name).net.eval(), context=CONTEXT), some_tokens(21)
    with torch.no_grad():
        for given in (0, 1, CONTEXT - 1, CONTEXT, CONTEXT + 1, 13):
            state = decoder.start(None, prefix=stream[:, :given])
            for token in range(given + 1, 22):
                step = decoder.step(stream[:, token - 1], state)
                state = step.state
                torch.testing.assert_close(
                    step.logits.log_softmax(-1), by_hand(name, stream, token), atol=1e-4, rtol=1e-4
                )


@every_kind
def test_scores_are_those_of_the_steps(name: str) -> None:
    stream, net = some_tokens(21), small_model(name).net.eval()
    with torch.no_grad():
        for sliding, stride in ((True, sliding_stride(CONTEXT)), (False, CONTEXT)):
            each = [by_hand(name, stream, token, stride).gather(1, stream[:, token, None]) for token in range(1, 22)]
            wanted = torch.cat(each, dim=1)  # [2, 21]
            for batch_size in (1, 2, 100):
                how = {"context": CONTEXT, "sliding": sliding, "batch_size": batch_size}
                found = score_tokens(net, [row[1:].numpy() for row in stream], **how)
                torch.testing.assert_close(torch.tensor([row.tolist() for row in found]), wanted, atol=1e-4, rtol=1e-4)
                for row, expected in zip(stream, wanted, strict=True):
                    parts = list(score_stream(net, row.numpy(), **how))
                    assert sum(part.log_prob for part in parts) == pytest.approx(float(expected.sum()), abs=1e-3)
                    assert sum(part.tokens for part in parts) == 21


def test_starts_of_documents_are_read_and_not_foreseen() -> None:
    stream, net = some_tokens(5)[0], small_model().net.eval()
    stream[3] = START
    with torch.no_grad():
        (score,) = score_stream(net, stream.numpy(), context=CONTEXT, sliding=False, batch_size=2)
        logits = net.output(net(None, stream[None, :-1]).features[0])
    wanted = logits.log_softmax(-1).gather(1, stream[1:, None])[:, 0]
    assert score.tokens == 4
    assert score.log_prob == pytest.approx(float(wanted.sum() - wanted[2]), abs=1e-3)


def test_reordered_and_copied_texts_go_on_as_their_own() -> None:
    decoder, stream = SlidingDecoder(small_model().net.eval(), context=CONTEXT), some_tokens(12)
    with torch.no_grad():
        state = decoder.start(None, prefix=stream[:, :7], copies=2)
        state = decoder.reorder(state, torch.tensor([3, 2, 0, 1]))
        for token in range(7, 11):
            state = decoder.step(stream[[1, 1, 0, 0], token], state).state
        step = decoder.step(stream[[1, 1, 0, 0], 11], state)
        alone = decoder.start(None, prefix=stream[:, :11])
        wanted = decoder.step(stream[:, 11], alone).logits
    torch.testing.assert_close(step.logits, wanted[[1, 1, 0, 0]], atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="prefix: found none"):
        decoder.start(None)


@every_kind
def test_a_beam_of_one_is_greedy_past_the_context(name: str) -> None:
    decoder, prefixes = SlidingDecoder(small_model(name).net.eval(), context=CONTEXT), some_tokens(5)[:, 1:].tolist()
    greedy = greedy_search(decoder, None, limits=[20, 20], prefixes=prefixes)
    beam = beam_search(decoder, None, beam=1, limits=[20, 20], prefixes=prefixes)
    assert [one.ids for one in greedy] == [one.ids for (one,) in beam]
    for one, (other,) in zip(greedy, beam, strict=True):
        assert one.log_prob == pytest.approx(other.log_prob, abs=1e-3)
