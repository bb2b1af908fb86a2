"""Connectionist temporal classification (Graves 2006): reading a strip column by column, with blanks between.

CTC is hard attention whose gradient is exact: the sum over every way to lay the text along the columns, in order, is
computed by a forward and a backward pass, where REINFORCE would draw one way.

Letters: `T` columns, `V` vocabulary with the blank, `L` letters of a text, `S = 2 L + 1` letters with blanks around.
"""

import torch
from torch import Tensor


def best_path(log_probs: Tensor, *, blank: int) -> tuple[list[int], list[int]]:
    """The letters that the likeliest symbol of each column writes, and the column where each begins.

    `log_probs` is `[T, V]`. Repeats are one letter, blanks are none.
    """
    symbols = log_probs.argmax(-1).tolist()
    letters: list[int] = []
    columns: list[int] = []
    before = blank
    for column, symbol in enumerate(symbols):
        if symbol not in (blank, before):
            letters.append(symbol)
            columns.append(column)
        before = symbol
    return letters, columns


def occupancy(log_probs: Tensor, letters: list[int], *, blank: int) -> Tensor:
    """`[L, T]`: how likely each column writes each letter, given that the text is this one: γ = α β / P(text).

    A text that cannot be has none: zeros, where the columns are too few for it, or each way to it has a column where
    its symbol has no probability (minus infinity in `log_probs`).
    """
    extended = [blank]
    for letter in letters:
        extended += [letter, blank]
    size, columns = len(extended), len(log_probs)
    emit = log_probs[:, extended].double()  # [T, S]
    # a letter may be reached over the blank before it, unless it repeats the letter before that
    skips = torch.tensor([n >= 2 and extended[n] != blank and extended[n] != extended[n - 2] for n in range(size)])
    forward = _pass(emit, skips, first=2)
    backward = _pass(
        emit.flip(0, 1), torch.cat([skips[2:], torch.zeros(min(2, size), dtype=torch.bool)]).flip(0), first=2
    )
    both = forward + backward.flip(0, 1) - emit  # each counts its own column
    both = both.masked_fill(emit == -torch.inf, -torch.inf)  # and not -inf less -inf
    total = torch.logsumexp(both[0], dim=-1)
    if not torch.isfinite(total):
        return log_probs.new_zeros(len(letters), columns)
    return (both - total).exp()[:, 1::2].T.to(log_probs.dtype)


def _pass(emit: Tensor, skips: Tensor, *, first: int) -> Tensor:
    """The log probability of all ways to be at each symbol after each column, `[T, S]`, from one of the `first` on."""
    columns, size = emit.shape
    ways = torch.full((columns, size), -torch.inf, dtype=emit.dtype)
    ways[0, :first] = emit[0, :first]
    for column in range(1, columns):
        stay = ways[column - 1]
        step = torch.cat([stay.new_full((1,), -torch.inf), stay[:-1]])
        skip = torch.cat([stay.new_full((min(2, size),), -torch.inf), stay[:-2]])[:size]
        skip = torch.where(skips, skip, -torch.inf)
        ways[column] = torch.logsumexp(torch.stack([stay, step, skip]), dim=0) + emit[column]
    return ways
