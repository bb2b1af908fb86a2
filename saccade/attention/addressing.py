"""How a head of a Neural Turing Machine finds its locations in the memory (Graves 2014, section 3.3, equations 5 to 9).

    content_weighting   softmax(β · cos(k, M_i))                        by what is there
    interpolate         g · content + (1 - g) · last                    or where it was before
    shift               Σ_j w(j) s(i - j), the memory being a ring      and a few locations on
    sharpen             w(i)^γ / Σ_j w(j)^γ                             and not blurred by that

Each takes and gives plain tensors; leading dimensions `...` are whatever there is, batch and heads for example.
Letters: `N` locations of the memory, `M` numbers at each, `K` offsets that a shift chooses from.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

_TINY = 1e-12  # stands for a weight of 0 where its logarithm is taken; 1e-12 of a weight is nothing to any float


class Addressing(NamedTuple):
    """The addressing parameters of `H` heads for one step."""

    key: Tensor  # [..., H, M]
    beta: Tensor  # [..., H], key strength β of at least 0
    gate: Tensor  # [..., H], interpolation gate g between 0 (where the head was) and 1 (where the content is)
    offsets: Tensor  # [..., H, K], shift weighting: a distribution
    gamma: Tensor  # [..., H], sharpening γ of at least 1


def address(memory: Tensor, last: Tensor, how: Addressing) -> Tensor:
    """All four steps: memory `[..., N, M]`, and from where the heads were, `[..., H, N]`, to where they are now."""
    content = content_weighting(how.key, memory, how.beta)
    return sharpen(shift(interpolate(content, last, how.gate), how.offsets), how.gamma)


def content_weighting(key: Tensor, memory: Tensor, beta: Tensor) -> Tensor:
    """Look where the memory is like the key: `w_i = softmax_i(β · cos(k, M_i))`.

    Key `[..., H, M]`, memory `[..., N, M]`, β `[..., H]` of at least 0 -> `[..., H, N]`, for `H` heads that
    see the same memory. An empty location has a cosine of 0 with every key.
    """
    likeness = F.normalize(key, dim=-1) @ F.normalize(memory, dim=-1).transpose(-2, -1)
    return torch.softmax(beta[..., None] * likeness, dim=-1)


def interpolate(content: Tensor, last: Tensor, gate: Tensor) -> Tensor:
    """Between what the content says and where the head was: `g · content + (1 - g) · last`.

    Weightings `[..., N]`, gate g `[...]` between 0 and 1.
    """
    return torch.lerp(last.to(content.dtype), content, gate[..., None].to(content.dtype))  # which autocast leaves apart


def shift(weights: Tensor, offsets: Tensor) -> Tensor:
    """Move a weighting around the ring: `w'(i) = Σ_o s(o) w(i - o)` (circular convolution).

    Weights `[..., N]`; offsets `[..., K]` is a distribution over the moves from `-(K // 2)` to `(K - 1) // 2`, so that
    three offsets are one back, stay, one on. `K` may be as large as `N` and larger.
    """
    moves = range(-(offsets.shape[-1] // 2), (offsets.shape[-1] + 1) // 2)
    # as rolls, not as one gather, whose gradient would be a slow scatter
    moved = torch.stack([weights.roll(move, dims=-1) for move in moves], dim=-2)  # [..., K, N]
    return (offsets[..., None, :] @ moved).squeeze(-2)


def sharpen(weights: Tensor, gamma: Tensor) -> Tensor:
    """Undo the blur of a shift: `w(i)^γ / Σ_j w(j)^γ`, computed as `softmax(γ · log w)`.

    Weights `[..., N]`, γ `[...]` of at least 1. As a power and a quotient, it is 0 / 0 for a large γ, and its
    gradient is not finite for a weight of 0; in logarithms neither happens.
    """
    return torch.softmax(gamma[..., None] * weights.clamp_min(_TINY).log(), dim=-1)
