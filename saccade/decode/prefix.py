"""What outputs have to begin with, read in one pass as far as all of them have it."""

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from saccade.nets import Encoded, Searchable
from saccade.text import START

StateT = TypeVar("StateT")


class PrefixState(NamedTuple, Generic[StateT]):
    """A search that has read what its outputs begin with."""

    state: StateT  # before the next step
    tokens: Tensor  # [N * copies], what that step reads
    length: int  # tokens that each output has by now
    log_probs: Tensor  # [N], of these tokens


def begin(
    decoder: Searchable[StateT],
    encoded: Encoded | None,
    *,
    size: int,
    prefixes: Sequence[Sequence[int]] | None,
    copies: int = 1,
    at_once: bool = True,
    score_prefixes: bool = True,
) -> PrefixState[StateT]:
    """Start `copies` outputs for each of the `size` inputs.

    Of the prefixes, as much as the shortest has is read in one pass; who has more is forced step by step from there.

    at_once         False where every step is looked at, and so has to be taken
    score_prefixes  False where nobody asks how likely the prefixes are: then what is read in one pass counts as certain
    """
    length = min(map(len, prefixes)) if prefixes and at_once else 0
    read = torch.tensor([[START, *prefix[:length]] for prefix in prefixes or [()] * size])  # [N, 1 + P]
    log_probs = decoder.log_prob(encoded, read) if length and score_prefixes else torch.zeros(size)
    state = decoder.start(encoded, prefix=read[:, :-1], copies=copies)
    return PrefixState(state, read[:, -1].repeat_interleave(copies), length, log_probs)
