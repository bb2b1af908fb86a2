"""What was remembered over the keys, when there are more of them now."""

import torch.nn.functional as F
from torch import Tensor


def grow(past: Tensor, keys: int) -> Tensor:
    """Past weights `[B, s]` over the first `s` keys -> `[B, keys]`: the new ones have not been looked at yet."""
    if past.shape[-1] > keys:
        raise ValueError(
            f"state: found weights over {past.shape[-1]} keys, wanted at most {keys}, as many as there are;"
            " it comes from a call with another memory"
        )
    return F.pad(past, (0, keys - past.shape[-1]))
