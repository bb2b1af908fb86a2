"""The likeliest tokens, without the log probabilities of all the others: `best.c` as an operator.

Letters: `R` rows, `V` vocabulary, `C` how many are wanted.
"""

import torch
from torch import Tensor

from saccade.runtime.native import KERNELS, call, library_for
from saccade.runtime.operators import define

SOURCE = KERNELS / "best.c"


def _best_tokens(logits: Tensor, count: int, first: int) -> tuple[Tensor, Tensor]:
    # plain conditions: this is called for each token of a search, and a message takes longer than they do
    if logits.dim() != 2 or not logits.is_floating_point():
        raise ValueError(f"logits: found shape {list(logits.shape)} of {logits.dtype}, wanted [rows, vocabulary]")
    vocabulary = logits.shape[1]
    if not 0 <= first < vocabulary:
        raise ValueError(f"first: found {first}, wanted 0 to {vocabulary - 1}, the vocabulary of the logits")
    if not 1 <= count <= vocabulary - first:
        raise ValueError(
            f"count: found {count} from {first} on, wanted 1 to {vocabulary - first}, as many as there are"
        )
    library = library_for(SOURCE, logits) if logits.dtype == torch.float32 else None
    if library is None:
        return torch_best_tokens(logits, count, first=first)
    values = logits.new_empty(len(logits), count)
    tokens = torch.empty(len(logits), count, dtype=torch.long, device=logits.device)
    transposed = logits.t()
    if len(logits) > 1 and transposed.is_contiguous():  # what `project` gives for many rows
        call(library.best_tokens_by_token, (transposed, values, tokens), *logits.shape, first, count)
    else:
        call(library.best_tokens, (logits.contiguous(), values, tokens), *logits.shape, first, count)
    return values, tokens


def torch_best_tokens(logits: Tensor, count: int, *, first: int) -> tuple[Tensor, Tensor]:
    """The loops of `best.c` in torch's operations."""
    logits = logits.float()
    values, tokens = logits[:, first:].topk(count)
    return values - logits.logsumexp(-1, keepdim=True), tokens + first


# Logits [R, V] -> of each row, the log probabilities and numbers [R, C] of its likeliest tokens from `first` on, the
# best first; without a gradient.
best_tokens = define(
    "best_tokens(Tensor logits, int count, int first) -> (Tensor, Tensor)",
    _best_tokens,
    fake=lambda logits, count, first: (
        logits.new_empty(logits.shape[0], count, dtype=torch.float32),
        logits.new_empty(logits.shape[0], count, dtype=torch.long),
    ),
)
