"""The likeliest tokens, without the log probabilities of all the others.

Letters: `R` rows, `V` vocabulary, `C` how many are wanted.
"""

from pathlib import Path

import torch
from torch import Tensor

from saccade.native import call, library_for

SOURCE = Path(__file__).with_name("best.c")


def best_tokens(logits: Tensor, count: int, *, first: int) -> tuple[Tensor, Tensor]:
    """Of each row `[R, V]`, the log probabilities and numbers `[R, C]` of its likeliest tokens from `first` on.

    At most `V - first` can be asked for. The best come first.
    """
    library = library_for(logits, SOURCE) if logits.dtype == torch.float32 else None
    if library is None:
        return plain_best_tokens(logits, count, first=first)
    values = logits.new_empty(len(logits), count)
    tokens = torch.empty(len(logits), count, dtype=torch.long)
    if logits.t().is_contiguous() and len(logits) > 1:  # what `project` gives for many rows
        call(library.best_tokens_by_token, (logits, values, tokens), *logits.shape, first, count)
    else:
        call(library.best_tokens, (logits.contiguous(), values, tokens), *logits.shape, first, count)
    return values, tokens


def plain_best_tokens(logits: Tensor, count: int, *, first: int) -> tuple[Tensor, Tensor]:
    """The same in torch's operations."""
    logits = logits.float()
    values, tokens = logits[:, first:].topk(count)
    return values - logits.logsumexp(-1, keepdim=True), tokens + first
