"""The attention map: what was looked at, with its labels, as plain arrays. Every picture is drawn from one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError

Kind = Literal["cross", "encoder", "decoder", "memory"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# The label of the end of a sentence, as saccade's models write it.
END_LABEL = "</s>"

MOST_CELLS = 1 << 28  # a gigabyte of weights; more is a mistake
_ABOVE_ONE = 1e-3  # what rounding, in half precision too, may add to a weight of one
# Control characters but for the line break, halves of characters, and what is none; XML can hold few of them.
_NOT_DRAWABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Grid:
    """Columns that are the regions of an image, row by row; `image` is the file itself, if it is to be shown."""

    height: int
    width: int
    image: bytes | None = None

    def __post_init__(self) -> None:
        if self.height < 1 or self.width < 1:
            raise InputError(f"columns: found a grid of {self.height} × {self.width}, wanted at least 1 × 1")

    def labels(self) -> list[str]:
        """The name of each region, counted from 1: "row 1, column 1" first."""
        return [f"row {y}, column {x}" for y in range(1, self.height + 1) for x in range(1, self.width + 1)]


@dataclass(frozen=True)
class AttentionMap:
    """What each row looked at, among the columns, by every layer and head.

    rows     the words that were written, or that looked
    columns  the words that were looked at, or the regions of an image
    weights  `[layers, heads, rows, columns]`, from 0 to 1; anything that numpy reads will do, and where layers,
             or layers and heads, are missing, there is one of them; kept as 32-bit floats that cannot be changed
    kind     "cross" (a target looks at its source), "encoder" and "decoder" (a sentence at itself), "memory"
    name     what the picture is called, such as the model's name
    """

    rows: Sequence[str]
    columns: Sequence[str] | Grid
    weights: NDArray[Any]
    kind: Kind = "cross"
    name: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind: found {self.kind!r}, wanted one of {', '.join(KINDS)}")
        object.__setattr__(self, "rows", as_labels(self.rows, "rows"))
        if not isinstance(self.columns, Grid):
            object.__setattr__(self, "columns", as_labels(self.columns, "columns"))
        wanted = (len(self.rows), len(self.column_labels))
        object.__setattr__(self, "weights", _checked(self.weights, wanted))

    def __repr__(self) -> str:
        """What it is a map of, in a line: weights and images would take pages."""
        sizes = " x ".join(map(str, self.weights.shape))
        return f"AttentionMap({self.kind}, <{sizes}>{f', {self.name!r}' if self.name else ''})"

    @property
    def column_labels(self) -> Sequence[str]:
        return self.columns.labels() if isinstance(self.columns, Grid) else self.columns

    @property
    def layers(self) -> int:
        return self.weights.shape[0]

    @property
    def heads(self) -> int:
        return self.weights.shape[1]

    def select(self, *, layer: int | None = None, head: int | None = None) -> "AttentionMap":
        """The map of one layer, of one head, or of both. They count from 0, and from -1 backwards."""
        weights = self.weights
        if layer is not None:
            weights = weights[[_index(layer, self.layers, "layer")]]
        if head is not None:
            weights = weights[:, [_index(head, self.heads, "head")]]
        return replace(self, weights=weights)

    def mean(self, *, layers: bool = True, heads: bool = True) -> "AttentionMap":
        """The mean over all layers and all heads, or over one of the two."""
        weights = self.weights
        if layers:
            weights = weights.mean(0, keepdims=True, dtype=np.float64)
        if heads:
            weights = weights.mean(1, keepdims=True, dtype=np.float64)
        return replace(self, weights=weights)

    def matrix(self, *, layer: int | None = None, head: int | None = None) -> NDArray[np.float32]:
        """One weight for each row and column, `[rows, columns]`: the mean over the layers and heads not chosen."""
        return self.select(layer=layer, head=head).mean().weights[0, 0]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from saccade.look.page import Panel, as_frame  # noqa: PLC0415 - which knows maps

        return as_frame([Panel(self.name, [self])])


def drawable(text: str) -> str:
    """Text that every picture can hold: control characters but for the line break, and broken ones, become �."""
    return _NOT_DRAWABLE.sub("�", text)


def shown(label: str) -> str:
    """A label as pictures show it: drawable, and a space and a line break can be seen."""
    label = drawable(label).replace("\n", "⏎")
    return label if label.strip() else "␣"


def plain(text: str) -> str:
    """Text for matplotlib: drawable, and not taken for mathematics."""
    return drawable(text).replace("$", r"\$")


def as_path(path: str | Path) -> Path:
    """Where to write; a map in its place is a mistake that is easily made."""
    if not isinstance(path, str | Path):
        raise InputError(f"path: found {type(path).__name__}, wanted the name of a file; it comes first")
    return Path(path)


def as_labels(labels: Sequence[str], name: str) -> tuple[str, ...]:
    """Labels that cannot be changed; what is none, or no list of them, is an `InputError`."""
    if isinstance(labels, str):
        raise InputError(f"{name}: found one text, wanted a list of labels")
    labels = tuple(labels)
    for index, label in enumerate(labels):
        if not isinstance(label, str):
            raise InputError(f"{name}: found {label!r} at index {index}, wanted text")
    if not labels:
        raise InputError(f"{name}: found no labels, wanted at least one")
    return labels


def _checked(weights: Any, wanted: tuple[int, int]) -> NDArray[np.float32]:
    """The weights with four axes, as numbers that can be drawn; a copy that nobody changes."""
    if _is_layers(weights):
        weights = _layers(weights)
    elif hasattr(weights, "detach"):  # a tensor of torch, wherever it is and whatever its numbers
        weights = weights.detach().float().cpu().numpy()
    try:
        array = np.array(weights, dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError("weights: found something that is not an array of numbers") from None
    if not 2 <= array.ndim <= 4:
        raise InputError(
            f"weights: found {array.ndim} axes, {list(array.shape)}, wanted [layers, heads, rows, columns]"
            " or the last two or three of them"
        )
    array = array.reshape((1,) * (4 - array.ndim) + array.shape)
    if array.shape[2:] != wanted:
        raise InputError(
            f"weights: found {array.shape[2]} rows and {array.shape[3]} columns, wanted {wanted[0]} and {wanted[1]},"
            " a row and a column for each label"
        )
    if not 0 < array.size <= MOST_CELLS:
        raise InputError(f"weights: found {array.size} numbers, wanted 1 to {MOST_CELLS}")
    if not np.isfinite(array).all():
        index = [int(axis[0]) for axis in np.nonzero(~np.isfinite(array))]
        raise InputError(f"weights: found {array[tuple(index)]} at {index}, wanted finite numbers from 0 to 1")
    if array.min() < 0 or array.max() > 1 + _ABOVE_ONE:
        raise InputError(f"weights: found {array.min():g} to {array.max():g}, wanted numbers from 0 to 1")
    array.flags.writeable = False
    return array


def _is_layers(weights: Any) -> bool:
    """Whether it is a tuple or a list of tensors."""
    return isinstance(weights, tuple | list) and len(weights) > 0 and all(hasattr(layer, "detach") for layer in weights)


def _layers(tensors: Sequence[Any]) -> NDArray[np.float32]:
    """Layers as models give them, one tensor `[1, heads, rows, columns]` each, as one array."""
    layers = [tensor.detach().float().cpu().numpy() for tensor in tensors]
    if {layer.shape for layer in layers} != {layers[0].shape}:
        shapes = ", ".join(str(list(layer.shape)) for layer in layers[:3])
        raise InputError(f"weights: found layers of the shapes {shapes}, wanted layers of one shape")
    if layers[0].ndim == 4:
        if len(layers[0]) != 1:
            raise InputError(
                f"weights: found a batch of {len(layers[0])}, wanted one sentence: [layer[:1] for layer in ...]"
            )
        layers = [layer[0] for layer in layers]
    return np.stack(layers)


def _index(number: int, count: int, name: str) -> int:
    if not -count <= number < count:
        raise InputError(f"{name}: found {number}, wanted 0 to {count - 1}; there are {count}")
    return number % count
