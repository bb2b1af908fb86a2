"""Sparsemax beside that of entmax, by the authors of alpha-entmax (Peters 2019)."""

import entmax
import pytest
import torch
from torch import Tensor

from saccade.attention import Dot, Sparse, attend, padding_mask, sparsemax


def rows(*, ties: bool) -> Tensor:
    """Scores `[11, 7, 13]`; in quarters, so that ties are many, some just at the threshold, and no sum is rounded."""
    scores = 2 * torch.randn(11, 7, 13, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    return (4 * scores).round() / 4 if ties else scores


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_values_and_gradients(dtype: torch.dtype, ties: bool) -> None:  # noqa: FBT001
    scores = rows(ties=ties).to(dtype).requires_grad_()
    found, wanted = sparsemax(scores), entmax.sparsemax(scores, dim=-1)
    torch.testing.assert_close(found, wanted)
    slope = torch.randn(scores.shape, generator=torch.Generator().manual_seed(11), dtype=torch.float64).to(dtype)
    gradients = [torch.autograd.grad(weights, scores, slope)[0] for weights in (found, wanted)]
    torch.testing.assert_close(*gradients)
    assert 0.1 < (found > 0).double().mean() < 0.5  # there is something to get wrong on either side of the threshold


def test_by_bisection_too() -> None:
    """entmax's other way to the threshold, which sorts nothing: alpha = 2 is sparsemax."""
    scores = rows(ties=True)
    torch.testing.assert_close(sparsemax(scores), entmax.entmax_bisect(scores, alpha=2.0, dim=-1))


def test_what_is_hidden_is_as_if_it_were_not_there() -> None:
    query, key, value = (torch.randn(3, items, 5, dtype=torch.float64) for items in (2, 7, 7))
    lengths = torch.tensor([7, 4, 1])
    found = attend(query, key, value, score=Dot(), weighting=Sparse(), mask=padding_mask(lengths), need_weights=True)
    assert found.weights is not None
    for sequence, length in enumerate(lengths.tolist()):
        weights = entmax.sparsemax(query[sequence] @ key[sequence, :length].T, dim=-1)
        torch.testing.assert_close(found.weights[sequence, :, :length], weights)
        torch.testing.assert_close(found.context[sequence], weights @ value[sequence, :length])
