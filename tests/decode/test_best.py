"""The likeliest tokens in one pass."""

import pytest
import torch

from saccade.runtime.kernels import best
from saccade.runtime.kernels.best import best_tokens, torch_best_tokens
from saccade.runtime.native import library_for
from tests.runtime.native import loops

__all__ = ["loops"]


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("rows", [1, 2, 16, 17, 40])
@pytest.mark.parametrize("size", [4, 5, 33, 1000])
@pytest.mark.parametrize("by_token", [False, True])
def test_they_are_those_of_torch(rows: int, size: int, by_token: bool) -> None:  # noqa: FBT001
    torch.manual_seed(rows * size)
    for scale in (0.01, 3.0, 200.0):
        logits = torch.randn(rows, size) * scale
        given = logits.t().contiguous().t() if by_token else logits
        for count in {1, min(10, size - 3), size - 3}:
            values, tokens = best_tokens(given, count, 3)
            wanted = logits[:, 3:].sort(descending=True).values[:, :count]
            assert logits.gather(1, tokens).equal(wanted)  # not the tokens: two may be equally good
            assert all(len(set(row)) == count for row in tokens.tolist())
            log_probs = wanted.double() - logits.double().logsumexp(-1, keepdim=True)
            torch.testing.assert_close(values, log_probs.float(), atol=1e-5 + 1e-6 * scale, rtol=1e-5)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("by_token", [False, True])
@pytest.mark.parametrize("size", [7, 40, 600])
def test_what_is_no_number_has_torchs_place_in_the_order(size: int, by_token: bool) -> None:  # noqa: FBT001
    """NaN comes first and makes all log probabilities NaN; of what is minus infinite, each is found once."""
    logits = torch.randn(8, size)
    logits[0, 5] = torch.nan
    logits[1, 4] = -torch.nan  # as inf - inf gives it
    logits[2] = torch.nan
    logits[3, 6] = torch.inf
    logits[4] = -torch.inf
    logits[5, 2:] = -torch.inf
    logits[6, 4:] = -torch.inf
    logits[7] = -3e38
    given = logits.t().contiguous().t() if by_token else logits
    for first, count in ((0, 1), (0, 4), (2, 5), (0, size)):
        values, tokens = best_tokens(given, count, first)
        wanted, _ = torch_best_tokens(logits, count, first=first)
        torch.testing.assert_close(values, wanted, atol=1e-5, rtol=1e-5, equal_nan=True)
        assert all(len(set(row)) == count for row in tokens.tolist())
        assert ((tokens >= first) & (tokens < size)).all()
        highest = logits[:, first:].topk(count).values
        torch.testing.assert_close(logits.gather(1, tokens), highest, rtol=0, atol=0, equal_nan=True)


def test_wrong_counts_are_named() -> None:
    for count, first, said in ((0, 0, "count: found 0 from 0 on, wanted 1 to 5"), (5, 1, "count: found 5 from 1 on")):
        with pytest.raises(ValueError, match=said):
            best_tokens(torch.zeros(2, 5), count, first)
    for first in (-1, 5, 2**62):
        with pytest.raises(ValueError, match=rf"first: found {first}, wanted 0 to 4"):
            best_tokens(torch.zeros(2, 5), 1, first)
    with pytest.raises(ValueError, match=r"logits: found shape \[5\] of torch\.float32, wanted \[rows, vocabulary\]"):
        best_tokens(torch.zeros(5), 1, 0)


@pytest.mark.parametrize("by_token", [False, True])
def test_of_equals_the_first_comes_first(by_token: bool) -> None:  # noqa: FBT001
    logits = torch.zeros(20, 100)
    if library_for(best.SOURCE, logits) is None:
        pytest.skip("no C loops here, and torch's topk takes equals in any order")
    logits[:, 50] = 1.0
    given = logits.t().contiguous().t() if by_token else logits
    _, tokens = best_tokens(given, 3, 3)
    assert tokens.tolist() == [[50, 3, 4]] * 20
