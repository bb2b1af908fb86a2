"""Where numbers stand along an axis, and which of them are written beside it; the same in every picture."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

_MOST_TICKS = 6


@dataclass(frozen=True)
class Axis:
    """From `low` to `high`, evenly or by powers of ten."""

    low: float
    high: float
    log: bool

    def place(self, value: float) -> float | None:
        """From 0 at the low end to 1 at the high one; None where a value has no place."""
        if not math.isfinite(value) or (self.log and value <= 0):
            return None
        low, high, value = (math.log10(one) if self.log else one for one in (self.low, self.high, value))
        return (value - low) / (high - low)

    def ticks(self) -> list[float]:
        """Round numbers within the axis."""
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            step = max(1, math.ceil((last - first) / (_MOST_TICKS - 1)))
            return [10.0**power for power in range(first, last + 1, step)]
        step = _round_step((self.high - self.low) / (_MOST_TICKS - 1))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [count * step for count in range(first, last + 1)]


def axis_of(values: Iterable[float], *, log: bool, whole: bool = False) -> Axis:
    """The axis on which all values have a place; `whole` stretches it to round numbers, and to 0 if that is near."""
    numbers = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = (min(numbers), max(numbers)) if numbers else (0.1, 1.0)
    if log:
        if whole or low == high:
            low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high) + 1e-9)
        return Axis(low, high * 10 if low == high else high, log=True)
    if whole and 0 < low < high / 2:
        low = 0.0
    if low == high:
        low, high = low - 0.5, high + 0.5
    if whole:
        step = _round_step((high - low) / (_MOST_TICKS - 1))
        low, high = step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)
    return Axis(low, high, log=False)


def _round_step(rough: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= rough * (1 - 1e-9))
