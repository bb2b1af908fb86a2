"""What every result is, whatever the task."""

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError

_MOST, _WIDTH = 160, 40  # characters of a line that shows all values, and of a value in it


class Output(ABC):
    """What a model gives for one input: plain values and arrays, as a frozen dataclass. Equal if all of them are."""

    # [layers, heads, rows, columns], if it was asked for, of a model that looks at something
    attention: NDArray[np.float32] | None = None

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            _same(getattr(self, name), getattr(other, name)) for name in _names(self)
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType] - arrays have none either

    def __repr__(self) -> str:
        """What there is, in a line: of arrays and long lists the size."""
        shown = ((name, _short(getattr(self, name))) for name in _names(self))
        values = ", ".join(f"{name}={text}" for name, text in shown if text)
        return f"{type(self).__name__}({_cut(values, _MOST)})"


def expect_output(result: object, *kinds: type[Output]) -> None:
    """Raise unless it is a result of such a kind, one and not a list of them, that `maps` is to draw."""
    if isinstance(result, kinds):
        return
    wanted = " or ".join(kind.__name__ for kind in kinds)
    remedy = "; take one of them, as in maps(found[0])" if isinstance(result, list | tuple) else ""
    raise InputError(f"maps: found {type(result).__name__}, wanted one result of this model, {wanted}{remedy}")


def _names(output: Output) -> list[str]:
    assert is_dataclass(output)
    return [field.name for field in fields(output)]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and bool((one == other).all())
    return type(one) is type(other) and bool(one == other)


def _short(value: Any) -> str:
    if value is None or (isinstance(value, list) and not value):
        return ""
    if isinstance(value, np.ndarray):
        return f"<{' x '.join(map(str, value.shape))}>"
    if isinstance(value, list) and (len(value) > 3 or isinstance(value[0], Output)):
        return f"<{len(value)}>"
    if isinstance(value, Output):
        return f"<{type(value).__name__}>"
    return f"{value:.4g}" if isinstance(value, float) else _cut(repr(value), _WIDTH)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def mean_weights(attention: NDArray[np.float32] | None) -> list[list[float]] | None:
    """Weights `[layers, heads, rows, columns]` for JSON: the mean over layers and heads, to four digits."""
    return None if attention is None else attention.mean((0, 1), dtype=np.float64).round(4).tolist()
