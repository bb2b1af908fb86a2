"""The state of past weights over the keys, when there are more of them now."""

import torch.nn.functional as F
from torch import Tensor


def pad_past(past: Tensor, keys: int) -> Tensor:
    """Past weights `[B, s]` over the first `s` keys -> `[B, keys]`: zeros for the new ones."""
    if past.shape[-1] > keys:
        raise ValueError(
            f"state: found weights over {past.shape[-1]} keys, wanted at most {keys}, as many as there are;"
            " it comes from a call with another memory"
        )
    return F.pad(past, (0, keys - past.shape[-1]))
