"""The likeliest tokens in one pass."""

import pytest
import torch

from saccade.runtime.kernels import best
from saccade.runtime.kernels.best import best_tokens
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


@pytest.mark.parametrize("by_token", [False, True])
def test_of_equals_the_first_comes_first(by_token: bool) -> None:  # noqa: FBT001
    logits = torch.zeros(20, 100)
    if library_for(best.SOURCE, logits) is None:
        pytest.skip("no C loops here, and torch's topk takes equals in any order")
    logits[:, 50] = 1.0
    given = logits.t().contiguous().t() if by_token else logits
    _, tokens = best_tokens(given, 3, 3)
    assert tokens.tolist() == [[50, 3, 4]] * 20
