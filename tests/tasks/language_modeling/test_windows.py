"""Texts that are longer than the context."""

import pytest
import torch
from torch import Tensor

from saccade.nets import previous_of
from saccade.tasks.language_modeling.scoring import score_tokens
from saccade.tasks.language_modeling.windows import SlidingDecoder, last_window, overlap, windows
from saccade.text import END, START
from tests.tasks.language_modeling.makers import CONTEXT, KINDS, small_model

every_kind = pytest.mark.parametrize("name", list(KINDS))


@pytest.mark.parametrize("context", [2, 3, 8, 9])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 40])
def test_each_token_is_asked_about_once_and_sees_what_it_should(context: int, length: int) -> None:
    for kept in {0, overlap(context)}:
        found = windows(length, context=context, kept=kept)
        assert [token for one in found for token in range(one.scored, one.end)] == list(range(length))
        assert all(0 < one.end - one.first <= context for one in found)
        # what stands before a token in its window: all of the text, or the tokens kept and the one behind them
        seen = [token - one.first for one in found for token in range(one.scored, one.end)]
        assert all(before == token or before > kept for token, before in enumerate(seen))


def test_where_the_last_window_begins() -> None:
    """A context of 8 keeps 3 tokens, and moves on by 4."""
    assert [last_window(length, context=8) for length in (0, 7, 8, 11, 12, 16)] == [0, 0, 4, 4, 8, 12]


def some_tokens(length: int) -> Tensor:
    torch.manual_seed(8)
    return torch.randint(END + 1, END + 12, (2, length))


def by_hand(name: str, text: Tensor, token: int) -> Tensor:
    """The log probabilities of one token of each text, from its window and nothing else."""
    net = small_model(name).net.eval()
    first = last_window(token, context=CONTEXT)
    logits = net.output(net(None, previous_of(text[:, first : token + 1])).features[:, -1])
    return logits.log_softmax(-1)


@every_kind
def test_steps_slide_as_the_windows_say(name: str) -> None:
    """However much of the text was read at once before."""
    decoder, text = SlidingDecoder(small_model(name).net.eval(), context=CONTEXT), some_tokens(21)
    starts = torch.full((2, 1), START)
    with torch.no_grad():
        for given in (0, 1, CONTEXT - 1, CONTEXT, 13):
            read = torch.cat([starts, text], dim=1)
            state = decoder.start(None, prefix=read[:, :given])
            for token in range(given, 21):
                step = decoder.step(read[:, token], state)
                state = step.state
                torch.testing.assert_close(
                    step.logits.log_softmax(-1), by_hand(name, text, token), atol=1e-4, rtol=1e-4
                )


@every_kind
def test_scores_are_those_of_the_steps(name: str) -> None:
    text, net = some_tokens(21), small_model(name).net.eval()
    with torch.no_grad():
        wanted = [by_hand(name, text, token).gather(1, text[:, token : token + 1])[:, 0] for token in range(21)]
        for batch_size in (1, 2, 100):
            numbers = [row.numpy() for row in text]
            found = score_tokens(net, numbers, context=CONTEXT, sliding=True, batch_size=batch_size)
            torch.testing.assert_close(
                torch.tensor([row.tolist() for row in found]), torch.stack(wanted, 1), atol=1e-4, rtol=1e-4
            )
        read = torch.cat([torch.full((2, 1), START), text], dim=1)
        sums = SlidingDecoder(net, context=CONTEXT).log_prob(None, read)
        torch.testing.assert_close(sums, torch.stack(wanted, 1).sum(1), atol=1e-3, rtol=1e-4)


def test_reordered_and_copied_texts_go_on_as_their_own() -> None:
    decoder, text = SlidingDecoder(small_model().net.eval(), context=CONTEXT), some_tokens(12)
    text[:, 0] = START
    with torch.no_grad():
        state = decoder.start(None, prefix=text[:, :7], copies=2)
        state = decoder.reorder(state, torch.tensor([3, 2, 0, 1]))
        for token in range(7, 11):
            state = decoder.step(text[[1, 1, 0, 0], token], state).state
        step = decoder.step(text[[1, 1, 0, 0], 11], state)
        alone = decoder.start(None, prefix=text[:, :11])
        wanted = decoder.step(text[:, 11], alone).logits
    torch.testing.assert_close(step.logits, wanted[[1, 1, 0, 0]], atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="prefix: found none"):
        decoder.start(None)
