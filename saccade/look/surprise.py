"""How surprising each token of a text was, as plain arrays. Every strip of coloured text is drawn from this."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.look.maps import as_labels, drawable

# Where one colour ends and the next begins, in bits. Each is as wide as all below it: P ≥ 1/2, 1/4, 1/16, 1/256, less.
EDGES = (1, 2, 4, 8)
LEVEL_NAMES = ("under 1", "1 to 2", "2 to 4", "4 to 8", "8 or more")

_BELOW_ZERO = 1e-3  # what rounding may leave of a token that was certain
_MOST_SURPRISE = 10_000.0  # bits; more is a mistake


@dataclass(frozen=True)
class ScoredTokens:
    """How surprising each token of a text was, after those before it: -log2 P, in bits (Shannon 1948).

    A token that was certain has 0 bits; one that was as likely as a tossed coin's side has 1; each further bit halves.

    tokens  the tokens as text: one behind the other, they are the text. One that has no letter of its own, such as the
            second byte of a character, is ""
    bits    `[tokens]`, kept as 32-bit floats that cannot be changed
    name    what the picture is called
    """

    tokens: Sequence[str]
    bits: NDArray[Any]
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", as_labels(self.tokens, "tokens"))
        object.__setattr__(self, "bits", _checked(self.bits, len(self.tokens)))

    @property
    def mean(self) -> float:
        """The mean surprise of a token, in bits: the cross entropy of the text."""
        return float(self.bits.mean(dtype=np.float64))

    @property
    def levels(self) -> NDArray[np.int64]:
        """Which of the colours each token has: 0 for the least surprising, to `len(EDGES)`."""
        return np.searchsorted(np.array(EDGES, dtype=np.float64), self.bits, side="right")

    def record(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        return {"tokens": list(self.tokens), "bits": [round(bits, 4) for bits in self.bits.tolist()]}

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from saccade.look.page import as_frame  # noqa: PLC0415 - which knows scored tokens

        return as_frame(self)


def token_shown(token: str) -> str:
    """A token within a text: drawable, and so that a tab and a token without a letter of its own can be seen."""
    return drawable(token.replace("\t", "⇥")) or "·"


def _checked(bits: Any, count: int) -> NDArray[np.float32]:
    if hasattr(bits, "detach"):  # a tensor of torch
        bits = bits.detach().float().cpu().numpy()
    try:
        array = np.array(bits, dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError("bits: found something that is not an array of numbers") from None
    if array.shape != (count,):
        raise InputError(f"bits: found shape {list(array.shape)}, wanted [{count}], a number for each token")
    wrong = ~((array >= -_BELOW_ZERO) & (array <= _MOST_SURPRISE))  # what is no number is wrong, too
    if wrong.any():
        index = int(np.argmax(wrong))
        raise InputError(f"bits: found {array[index]} at index {index}, wanted -log2 P, 0 to {_MOST_SURPRISE:g}")
    array = np.maximum(array, 0)
    array.flags.writeable = False
    return array
