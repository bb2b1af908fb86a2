"""Random arguments, for tests that call the C kernels with whatever there is: the same for the same seed."""

import re
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import torch
from torch import Tensor

# Around the strides of the loops: none, one, and one more or less than what goes into a vector register or a block.
SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 49)
_WRONG_DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
_ODD_VALUES = (torch.nan, -torch.nan, torch.inf, 0.0, 1e-40)
_ODD_VALUES_BELOW_ZERO = (-torch.inf, -0.0)


class RandomArguments:
    """What one call gets. Half of all calls are right; in the others, any argument may be wrong in any way."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._numbers = torch.Generator().manual_seed(seed)
        self.right = self.happens(0.5)
        self.odd = self.happens(0.25)  # whether numbers may be no numbers
        self.dtype: torch.dtype = self.one_of((torch.float32, torch.float32, torch.float64))
        self.drawn: list[str] = []  # for whoever has to find out what went wrong

    def happens(self, probability: float) -> bool:
        return self._random.random() < probability

    def goes_wrong(self) -> bool:
        """Whether the next argument is a wrong one."""
        return not self.right and self.happens(0.2)

    def one_of(self, choices: Iterable[Any]) -> Any:
        return self._random.choice(tuple(choices))

    def size(self, *, least: int = 0, most: int = 49) -> int:
        return self.one_of(size for size in SIZES if least <= size <= most)

    def number(self, right: float, *wrong: float) -> Any:
        """A number that is right, or one of those that are not."""
        found = self.one_of(wrong) if self.goes_wrong() else right
        self.drawn.append(repr(found))
        return found

    def tensor(self, *shape: int, low: float | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """Numbers of this shape (around 0, or between `low` and 2), laid out in any way; perhaps of another shape."""
        kind = self.dtype if dtype is None else dtype
        if self.goes_wrong():
            if self.happens(0.5):
                return self._laid_out(self._another(shape), kind, low)
            return self._laid_out(shape, self.one_of(_WRONG_DTYPES), low)
        return self._laid_out(shape, kind, low)

    def mask(self, *shape: int) -> Tensor:
        """True where something is; somewhere in each row, unless all may be odd."""
        mask = torch.rand(shape, generator=self._numbers) > 0.3
        if mask.numel() and not self.odd:
            mask[..., 0] = True
        if self.goes_wrong():
            mask = self.one_of((mask.float(), mask.flatten(), torch.ones(self._another(shape), dtype=torch.bool)))
        self.drawn.append(_said(mask))
        return mask

    def _another(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        kind = self._random.randrange(4)
        if kind == 0 or not shape:
            return (*shape, self.size(most=3))
        axis = self._random.randrange(len(shape))
        if kind == 1:
            return shape[:axis] + shape[axis + 1 :]
        size = max(0, shape[axis] + self.one_of((-1, 1, -shape[axis])))
        return (*shape[:axis], size, *shape[axis + 1 :])

    def _laid_out(self, shape: tuple[int, ...], dtype: torch.dtype, low: float | None) -> Tensor:
        def made(*sizes: int) -> Tensor:
            if low is None:
                numbers = torch.randn(sizes, generator=self._numbers, dtype=torch.float64)
            else:
                numbers = low + (2 - low) * torch.rand(sizes, generator=self._numbers, dtype=torch.float64)
            if self.odd and numbers.numel():
                values = _ODD_VALUES if low is not None else _ODD_VALUES + _ODD_VALUES_BELOW_ZERO
                for _ in range(self._random.randrange(3)):
                    numbers.view(-1)[self._random.randrange(numbers.numel())] = self.one_of(values)
            return numbers.to(dtype)

        layout = self.one_of(("as it is",) * 4 + ("transposed", "expanded", "a part", "every other", "flipped"))
        if layout == "transposed" and len(shape) > 1:
            found = made(*shape[:-2], shape[-1], shape[-2]).transpose(-1, -2)
        elif layout == "expanded" and shape:
            found = made(1, *shape[1:]).expand(shape)
        elif layout == "a part" and shape:  # one that ends with its storage, and begins somewhere
            found = made(shape[0] + 1, *shape[1:])[1:]
        elif layout == "every other" and shape:
            found = made(*shape[:-1], 2 * shape[-1])[..., ::2]
        elif layout == "flipped" and shape:
            found = made(*shape).flip(0)
        else:
            found = made(*shape)
        self.drawn.append(_said(found))
        return found


def _said(tensor: Tensor) -> str:
    return f"{str(tensor.dtype)[6:]} {list(tensor.shape)} by {list(tensor.stride())} from {tensor.storage_offset()}"


class Refused(Exception):  # noqa: N818 - what an answer can be, not an error of the tests
    """A call was refused, as it should be if its arguments are wrong."""


def answer(names: tuple[str, ...], call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """What a call gives; `Refused` if it is, in a sentence that names an argument. Whatever else happens is a fault."""
    try:
        return call(*arguments, **more)
    except (ValueError, RuntimeError) as error:
        said = str(error)
        if re.search(rf"\b({'|'.join(names)})\b", said) is None:
            raise AssertionError(f"no argument is named: {said}") from error
        raise Refused(said) from error


def expect_same(found: Any, wanted: Any, *, loose: float = 1.0) -> None:
    """Numbers are the same to rounding, and none where there are none."""
    if isinstance(found, Tensor):
        found, wanted = (found,), (wanted,)
    for one, other in zip(found, wanted, strict=True):
        tolerance = 1e-9 if other.dtype == torch.float64 else 2e-5
        torch.testing.assert_close(one, other, rtol=loose * tolerance, atol=loose * tolerance, equal_nan=True)
