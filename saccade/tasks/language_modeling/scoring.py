"""How likely each token of a text is, after those before it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.nets import LanguageNet, previous_of, projected_cross_entropy
from saccade.tasks.language_modeling.windows import overlap, windows
from saccade.text import PAD, pad

TokenIds = NDArray[Any]


def score_tokens(
    net: LanguageNet,
    texts: Sequence[TokenIds],
    *,
    context: int,
    sliding: bool,
    batch_size: int,
    progress: Callable[[int], None] | None = None,
) -> list[NDArray[np.float32]]:
    """Ln P of each token of each text, which is read in windows, `batch_size` of them at a time.

    progress  is told after each batch how many tokens it was asked about
    """
    kept = overlap(context) if sliding else 0
    found = [np.zeros(len(text), dtype=np.float32) for text in texts]
    cut = [(row, one) for row, text in enumerate(texts) for one in windows(len(text), context=context, kept=kept)]
    for number in range(0, len(cut), batch_size):
        here = cut[number : number + batch_size]
        rows = pad([texts[row][one.first : one.end].tolist() for row, one in here])
        log_probs = _log_probs(net, rows).numpy()
        for (row, one), values in zip(here, log_probs, strict=True):
            found[row][one.scored : one.end] = values[one.scored - one.first : one.end - one.first]
        if progress is not None:
            progress(sum(one.end - one.scored for _, one in here))
    return found


def _log_probs(net: LanguageNet, rows: Tensor) -> Tensor:
    """Ln P of each token of the rows `[B, T]`, 0 for padding."""
    features = net(None, previous_of(rows)).features.flatten(0, 1)  # [B * T, D]
    output = net.output
    losses = projected_cross_entropy(features, output.weight, output.bias, rows.flatten(), smoothing=0.0, ignore=PAD)
    return -losses.each.view_as(rows)


def self_attention(net: LanguageNet, ids: Sequence[int]) -> NDArray[np.float32] | None:
    """What each of the tokens looked at when it was written: `[layers, heads, T, T]`, the start and those before it."""
    weights = net(None, previous_of(torch.tensor([ids])), need_weights=True).self_weights  # [1, L, H, T, S]
    if weights is None:
        return None
    # a recurrent net has one state less to look at: there is none before the start
    missing = len(ids) - weights.shape[-1]
    return torch.nn.functional.pad(weights[0], (0, missing)).to(torch.float32).numpy()
