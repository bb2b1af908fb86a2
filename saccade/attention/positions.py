"""Positions: attention by itself does not know the order of its inputs; these tell it.

Shapes: `B` batch (any leading dimensions), `S` items, `D` dim. `start` is the position of the first item, for those
who feed a sequence piece by piece.
"""

import functools
from typing import Literal

import torch
from torch import Tensor, nn

from saccade.attention._checks import expect_choice, expect_count, expect_items, expect_last_dim
from saccade.runtime.kernel_conditions import is_eager, is_plain

Combine = Literal["add", "concatenate"]

_LONGEST_TABLE = 1 << 13  # positions that are kept


def sinusoids(positions: Tensor, dim: int) -> Tensor:
    """The encoding of Vaswani 2017 for any positions, whole or not: `[S]` -> `[S, dim]`.

        PE(pos, 2i)     = sin(pos / 10000^(2i/dim))
        PE(pos, 2i + 1) = cos(pos / 10000^(2i/dim))

    The distance of two encodings depends on the distance of their positions alone, and every number lies in [-1, 1].
    """
    dtype = positions.dtype if positions.is_floating_point() else torch.get_default_dtype()
    return _sines_and_cosines(positions, dim).flatten(-2).to(positions.device, dtype)


def _sines_and_cosines(positions: Tensor, dim: int, base: float = 10000.0) -> Tensor:
    """Sine and cosine of `pos / base^(2i/dim)`: `[S]` -> `[S, dim / 2, 2]` in float64."""
    # float64, because at position 100,000 a float32 angle is off by 0.004 already
    exponents = torch.arange(0, dim, 2, dtype=torch.float64, device="cpu") / dim
    angles = positions.cpu().double()[:, None] / base**exponents  # not every device knows float64
    return torch.stack((angles.sin(), angles.cos()), dim=-1)


def _positions_of(x: Tensor, start: int) -> Tensor:
    expect_items("x", x)
    expect_count("start", start, least=0)
    return torch.arange(start, start + x.shape[-2], dtype=torch.float64, device="cpu")


def _encoding(x: Tensor, start: int, dim: int, base: float = 10000.0) -> Tensor:
    """`_sines_and_cosines` for the items of `x` `[B, S, D]`, in its dtype: `[S, dim / 2, 2]`."""
    positions = _positions_of(x, start)
    # whoever compiles or traces must not meet a table that is kept, nor leave one
    if not is_eager() or not is_plain(x) or start + x.shape[-2] > _LONGEST_TABLE:
        return _sines_and_cosines(positions, dim, base).to(x.device, x.dtype)
    end = start + x.shape[-2]
    length = max(64, 1 << (end - 1).bit_length()) if end else 64
    return _table(length, dim, base, x.dtype)[start:end]


@functools.lru_cache(maxsize=32)
def _table(length: int, dim: int, base: float, dtype: torch.dtype) -> Tensor:
    """The first positions, kept: who reads token by token would compute one of them at a time."""
    with torch.inference_mode(mode=False):
        positions = torch.arange(length, dtype=torch.float64, device="cpu")
        return _sines_and_cosines(positions, dim, base).to(dtype)


def _expect_even(dim: int) -> None:
    if dim < 2 or dim % 2:
        raise ValueError(
            f"dim: found {dim}, wanted an even number of at least 2: a sine and a cosine for each frequency"
        )


def _combine(x: Tensor, encoding: Tensor, how: Combine) -> Tensor:
    """`[B, S, D]` with `[S, E]`: the sum (E = D), or side by side as `[B, S, D + E]`."""
    if how == "add":
        expect_last_dim("x", x, encoding.shape[-1], remedy="or combine='concatenate'")
        return x + encoding
    return torch.cat((x, encoding.expand(*x.shape[:-1], -1)), dim=-1)


class Sinusoidal(nn.Module):
    """Fixed sines and cosines (Vaswani 2017; the formula is in `sinusoids`), usable at any length.

    `[B, S, D]` -> `[B, S, D]` added, with `dim = D`; or `[B, S, D + dim]` concatenated.
    """

    def __init__(self, dim: int, *, combine: Combine = "add") -> None:
        super().__init__()
        _expect_even(dim)
        expect_choice("combine", combine, ("add", "concatenate"))
        self.dim = dim
        self.combine: Combine = combine

    def extra_repr(self) -> str:
        return f"{self.dim}, combine={self.combine!r}"

    def forward(self, x: Tensor, *, start: int = 0) -> Tensor:
        return _combine(x, _encoding(x, start, self.dim).flatten(-2), self.combine)


class Learned(nn.Module):
    """One learned vector for each of `positions` positions (Gehring 2017). Longer inputs are refused.

    `[B, S, D]` -> `[B, S, D]` added, with `dim = D`; or `[B, S, D + dim]` concatenated.
    """

    def __init__(self, dim: int, positions: int, *, combine: Combine = "add") -> None:
        super().__init__()
        expect_count("dim", dim)
        expect_count("positions", positions)
        expect_choice("combine", combine, ("add", "concatenate"))
        self.combine: Combine = combine
        self.table = nn.Parameter(torch.empty(positions, dim))
        nn.init.normal_(self.table, std=0.02)

    def forward(self, x: Tensor, *, start: int = 0) -> Tensor:
        expect_items("x", x)
        expect_count("start", start, least=0)
        end = start + x.shape[-2]
        if end > len(self.table):
            raise ValueError(
                f"x: found {end} positions, wanted at most {len(self.table)}, the number that Learned was made for;"
                " make it with more, or use Sinusoidal, which has no end"
            )
        return _combine(x, self.table[start:end], self.combine)


class Rotary(nn.Module):
    """Rotation of queries and keys by their position (Su 2021), so that `q · k` knows only how far apart they are.

    Each pair `(x_2i, x_2i+1)` is turned by the angle `pos / base^(2i/dim)`. `[B, S, dim]` -> `[B, S, dim]`, for queries
    and keys alike; `MultiHead(..., rotary=Rotary(dim_of_a_head))` does it for you.
    """

    def __init__(self, dim: int, *, base: float = 10000.0) -> None:
        super().__init__()
        _expect_even(dim)
        if not base > 1:
            raise ValueError(f"base: found {base}, wanted more than 1")
        self.dim = dim
        self.base = base

    def forward(self, x: Tensor, *, start: int = 0) -> Tensor:
        expect_last_dim("x", x, self.dim)
        sin, cos = _encoding(x, start, self.dim, self.base).unbind(-1)  # [S, dim / 2] each
        even, odd = x[..., 0::2], x[..., 1::2]
        turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return turned.flatten(-2)  # [B, S, dim / 2, 2] -> [B, S, dim]
