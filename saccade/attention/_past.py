"""The state of past weights over the keys, when there are more of them now."""

import torch.nn.functional as F
from torch import Tensor


def pad_past(past: Tensor, keys: int, *, batch: int) -> Tensor:
    """What is known of the first `s` keys, `[B, s]` or `[B, s, N]` -> of all `keys`: zeros for the new ones.

    batch  how many dimensions `B` stands for
    """
    known = past.shape[batch]
    if known > keys:
        raise ValueError(
            f"state: found weights over {known} keys, wanted at most {keys}, as many as there are;"
            " it comes from a call with another memory"
        )
    behind = past.dim() - batch - 1  # dimensions after that of the keys
    return F.pad(past, (*((0, 0) * behind), 0, keys - known))
