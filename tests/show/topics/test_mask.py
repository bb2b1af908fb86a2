"""What a row may see, against a softmax of what it may see."""

import numpy as np
import pytest
import torch

from saccade.show import Matrix, Table, make_lesson
from saccade.show.topics.mask import LENGTH, SIZE, WORDS, future_changes, nothing_to_see, weights_of
from tests.show.blocks import blocks, column


def test_what_is_seen_has_the_whole_weight_and_what_is_hidden_nothing() -> None:
    causal, padded = (matrix.weights for matrix in blocks(make_lesson("mask"), Matrix))
    assert np.isfinite(causal).tolist() == [[s <= t for s in range(len(WORDS))] for t in range(len(WORDS))]
    assert np.isfinite(padded).tolist() == [[s < LENGTH for s in range(len(WORDS))]] * len(WORDS)
    for weights in (causal, padded):
        np.testing.assert_allclose(np.nansum(weights, axis=1), 1, atol=1e-6)


def test_weights_are_a_softmax_over_what_may_be_seen() -> None:
    torch.manual_seed(1)
    words, mask = torch.randn(1, 5, SIZE), torch.rand(1, 5, 5) < 0.6
    mask[0].fill_diagonal_(True)  # noqa: FBT003 - torch has no name for it
    scores = (words[0] @ words[0].T / SIZE**0.5).numpy()
    for row, (seen, found) in enumerate(zip(mask[0].numpy(), weights_of(words, mask), strict=True)):
        wanted = np.exp(scores[row][seen]) / np.exp(scores[row][seen]).sum()
        np.testing.assert_allclose(found[seen], wanted, rtol=1e-5)


def test_the_future_changes_nothing_and_nothing_to_see_gives_zeros() -> None:
    torch.manual_seed(1)
    words = torch.randn(1, 5, SIZE)
    masked, open_ = future_changes(words)
    assert masked == 0 < open_
    context, gradient = nothing_to_see(words)
    assert not context.any()
    assert not gradient.any()
    assert context.shape == gradient.shape == words.shape
    (table,) = blocks(make_lesson("mask"), Table)
    found = column(table, "what came out")
    assert [found[0], *found[2:]] == ["0", "0", "0", "nan"]
    assert float(found[1]) == pytest.approx(0.4, abs=0.3)
