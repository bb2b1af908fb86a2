"""How likely each token of a text is, after those before it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.nets import LanguageNet, projected_cross_entropy
from saccade.text import PAD, START, pad
from saccade.text.packed_rows import validation_rows
from saccade.text.windows import sliding_stride, windows

TokenIds = NDArray[Any]


class StreamScore(NamedTuple):
    """How well a part of a stream was foreseen."""

    log_prob: float
    tokens: int


def score_stream(
    net: LanguageNet, stream: TokenIds, *, context: int, sliding: bool, batch_size: int
) -> Iterator[StreamScore]:
    """The log probability of a stream of documents, a batch of rows at a time; no start of a document is foreseen."""
    stride = sliding_stride(context) if sliding else None
    for rows in validation_rows(stream, context=context, batch_size=batch_size, stride=stride):
        total = _log_probs(net, rows.inputs, rows.targets).sum(dtype=torch.float64)
        yield StreamScore(float(total), rows.tokens)


def score_tokens(
    net: LanguageNet, texts: Sequence[TokenIds], *, context: int, sliding: bool, batch_size: int
) -> list[NDArray[np.float32]]:
    """Ln P of each token of each text, which is a document by itself; `batch_size` windows are read at a time."""
    stride = sliding_stride(context) if sliding else context
    streams = [np.concatenate([[START], text]) for text in texts]
    found = [np.zeros(len(text), dtype=np.float32) for text in texts]
    cut = [
        (row, one) for row, stream in enumerate(streams) for one in windows(len(stream), context=context, stride=stride)
    ]
    for number in range(0, len(cut), batch_size):
        here = cut[number : number + batch_size]
        inputs = pad([streams[row][one.first : one.end].tolist() for row, one in here])
        targets = pad([streams[row][one.first + 1 : one.end + 1].tolist() for row, one in here])
        for (row, one), values in zip(here, _log_probs(net, inputs, targets).numpy(), strict=True):
            found[row][one.first + one.seen : one.end] = values[one.seen : one.end - one.first]
    return found


def _log_probs(net: LanguageNet, inputs: Tensor, targets: Tensor) -> Tensor:
    """Ln P of each target `[B, T]`, 0 for padding."""
    features = net(None, inputs).features.flatten(0, 1)  # [B * T, D]
    output = net.output
    losses = projected_cross_entropy(features, output.weight, output.bias, targets.flatten(), smoothing=0.0, ignore=PAD)
    return -losses.each.view_as(targets)


def self_attention(net: LanguageNet, inputs: Sequence[int]) -> NDArray[np.float32] | None:
    """What was looked at when each of the inputs had been read: `[layers, heads, T, T]`, it and those before it."""
    weights = net(None, torch.tensor([inputs]), need_weights=True).self_weights  # [1, L, H, T, S]
    if weights is None:
        return None
    # a recurrent net has one state less to look at: there is none before the first
    missing = len(inputs) - weights.shape[-1]
    return torch.nn.functional.pad(weights[0], (0, missing)).to(torch.float32).numpy()
