"""What each head of a model looks back to, as a share of its attention, beside what chance would give."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.look.landmarks import LANDMARKS, NOWHERE, Places

# These are about distance alone, and so are held against looking everywhere alike; landmarks, against the head's own
# habit of looking so far back.
_PLAIN = ("itself", "previous", "first")
PLACES = (*_PLAIN, *LANDMARKS)


@dataclass(frozen=True)
class Reading:
    """What the heads looked at while they read a text.

    weights    `[layers, heads, T, T]`: row t is what was looked at when token t had been read, columns are the tokens
    landmarks  by name `[T]`, for each token one before it, or -1: of `find_landmarks`, or others
    visible    `[T, T]`: which columns a row may look at; itself and all before it, if nothing else is said
    """

    weights: NDArray[Any]
    landmarks: Mapping[str, Places] = field(default_factory=dict[str, Places])
    visible: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.weights)
        if len(shape) != 4 or shape[2] != shape[3]:
            raise InputError(f"weights: found shape {list(shape)}, wanted [layers, heads, tokens, tokens]")
        tokens = shape[2]
        if self.visible is not None and self.visible.shape != (tokens, tokens):
            raise InputError(f"visible: found shape {list(self.visible.shape)}, wanted {[tokens, tokens]}")
        for name, places in self.landmarks.items():
            if name in _PLAIN or places.shape != (tokens,) or places.min() < NOWHERE or places.max() >= tokens:
                raise InputError(f"landmarks: {name}: wanted {tokens} numbers, each a token's or {NOWHERE}")


class HeadMeasure(NamedTuple):
    """How much each head looks at one kind of place."""

    name: str
    rows: int  # tokens that have such a place
    share: NDArray[np.float64]  # [layers, heads], the mean attention on it, over these tokens
    chance: NDArray[np.float64]  # [layers, heads], what it would be by chance

    @property
    def ratio(self) -> NDArray[np.float64]:
        """`share / chance`; 1 for a head that never looks there, nor would by chance."""
        return np.divide(self.share, self.chance, out=np.ones_like(self.share), where=self.chance > 0)

    @property
    def best(self) -> tuple[int, int]:
        """The layer and the head, from 0, whose share is farthest above chance."""
        layer, head = np.unravel_index(int(np.argmax(self.share - self.chance)), self.share.shape)
        return int(layer), int(head)


@dataclass(frozen=True)
class HeadMeasures:
    """What `measure_heads` finds: all measures by name, and how far and how widely each head looks."""

    by_name: Mapping[str, HeadMeasure]
    distance: NDArray[np.float64]  # [layers, heads], tokens back, in the mean of the attention
    even_distance: float  # that of a head that looks everywhere alike
    entropy: NDArray[np.float64]  # [layers, heads], in bits: 0 for a head that looks at one token at a time
    even_entropy: float

    def of(self, name: str) -> HeadMeasure:
        """The measure of that name."""
        if name not in self.by_name:
            have = ", ".join(self.by_name)
            raise InputError(f"{name}: no token of this text could look at such a place; there are {have}")
        return self.by_name[name]

    def best(self) -> list[dict[str, Any]]:
        """The head that is farthest above chance, for each measure; layers and heads count from 1."""
        return [
            {
                "measure": one.name,
                "tokens": one.rows,
                "layer": one.best[0] + 1,
                "head": one.best[1] + 1,
                "share": round(float(one.share[one.best]), 4),
                "chance": round(float(one.chance[one.best]), 4),
                "ratio": round(float(one.ratio[one.best]), 4),
            }
            for one in self.by_name.values()
        ]

    def record(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON: of all layers and heads, `[layers, heads]`, and the best of them."""
        measures = {
            one.name: {
                "tokens": one.rows,
                "share": one.share.round(4).tolist(),
                "chance": one.chance.round(4).tolist(),
                "ratio": one.ratio.round(4).tolist(),
            }
            for one in self.by_name.values()
        }
        far = {"mean": self.distance.round(4).tolist(), "even": round(self.even_distance, 4)}
        wide = {"mean": self.entropy.round(4).tolist(), "even": round(self.even_entropy, 4)}
        return {"best": self.best(), "measures": measures, "distance": far, "entropy": wide}


def measure_heads(readings: Iterable[Reading]) -> HeadMeasures:
    """How much each head looks at each kind of place, over all texts together.

    With `a_t,s` the attention of token t on token s, and `p_t` the place that is looked for from t, over the n tokens t
    that have such a place, can see it, and can see at least one other token:

        share  = 1/n Σ_t a_t,p_t
        chance = 1/n Σ_t 1 / how many tokens t can see     for itself, the previous token and the first of all
        chance = 1/n Σ_t m(t - p_t)                        for landmarks; m(d) = mean of a_t,t-d over all t that see it

    The first three are places by their distance, and held against a head that looks everywhere alike. Landmarks are
    held against **the same head's own profile of distances**: what it would give to these places if it only knew how
    far back they are, and not what stands there. A head that always looks at the token before has a large share of the
    starts of short words, and a ratio of 1. This is strict: looking at word starts makes a profile of its own, so that
    even a head that looks nowhere else has a chance well above 0.
    """
    sums: _Sums | None = None
    for reading in readings:
        if sums is None:
            sums = _Sums(*np.shape(reading.weights)[:2])
        sums.add(reading)
    if sums is None or not sums.rows:
        raise InputError("no token has a choice of where to look; wanted a longer text, or a wider window")
    return sums.measures()


class _Sums:
    """What is added up, text by text; `D` distances, as many as the longest text has tokens."""

    def __init__(self, layers: int, heads: int) -> None:
        self.shape = (layers, heads)
        self.share: dict[str, NDArray[np.float64]] = {}  # [L, H], of each measure
        self.even: dict[str, float] = {}
        self.back: dict[str, NDArray[np.float64]] = {}  # [D], how often a place is so far back
        self.profile = np.zeros((*self.shape, 0))  # [L, H, D], the attention so far back
        self.seen = np.zeros(0)  # [D], how often so far back can be seen
        self.rows = 0
        self.even_distance = self.even_entropy = 0.0
        self.entropy = np.zeros(self.shape)

    def add(self, reading: Reading) -> None:
        weights = np.asarray(reading.weights, dtype=np.float64)
        if weights.shape[:2] != self.shape:
            raise InputError(
                f"readings: found {weights.shape[:2]} layers and heads, wanted {self.shape} in all of them"
            )
        tokens = weights.shape[2]
        at = np.arange(tokens)
        visible = at[:, None] >= at if reading.visible is None else reading.visible
        count = visible.sum(1)
        chooses = count > 1  # who can look at one token alone says nothing
        back = at[:, None] - at  # [T, S]
        pairs = visible & chooses[:, None] & (back >= 0)
        self._grow(tokens)
        self.seen += np.bincount(back[pairs], minlength=len(self.seen))
        for layer, head in np.ndindex(self.shape):
            looked = weights[layer, head][pairs]
            self.profile[layer, head] += np.bincount(back[pairs], weights=looked, minlength=len(self.seen))
            self.entropy[layer, head] -= (looked * np.log2(looked, out=np.zeros_like(looked), where=looked > 0)).sum()
        self.rows += int(chooses.sum())
        self.even_entropy += float(np.log2(count[chooses]).sum())
        self.even_distance += float((np.where(pairs, back, 0).sum(1)[chooses] / count[chooses]).sum())
        plain = {"itself": at, "previous": at - 1, "first": np.where(at > 0, 0, NOWHERE)}
        for name, places in {**plain, **reading.landmarks}.items():
            rows = at[(places >= 0) & (places <= at) & chooses & visible[at, np.maximum(places, 0)]]
            distances = np.bincount(rows - places[rows], minlength=len(self.seen))
            self.share[name] = self.share.get(name, 0.0) + weights[:, :, rows, places[rows]].sum(-1)
            self.even[name] = self.even.get(name, 0.0) + float((1 / count[rows]).sum())
            self.back[name] = _longer(self.back.get(name, np.zeros(0)), len(self.seen)) + distances

    def _grow(self, tokens: int) -> None:
        most = max(tokens, len(self.seen))
        self.seen, self.profile = _longer(self.seen, most), _longer(self.profile, most)

    def measures(self) -> HeadMeasures:
        mean_profile = self.profile / np.maximum(self.seen, 1)  # m(d)
        found: dict[str, HeadMeasure] = {}
        for name, share in self.share.items():
            back = _longer(self.back[name], len(self.seen))
            rows = int(back.sum())
            if not rows:
                continue
            by_habit = mean_profile @ back / rows
            chance = np.full(self.shape, self.even[name] / rows) if name in _PLAIN else by_habit
            found[name] = HeadMeasure(name, rows, share / rows, chance)
        return HeadMeasures(
            found,
            distance=self.profile @ np.arange(len(self.seen)) / self.rows,
            even_distance=self.even_distance / self.rows,
            entropy=self.entropy / self.rows,
            even_entropy=self.even_entropy / self.rows,
        )


def _longer(values: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """The values with zeros behind them, along the last axis."""
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, length - values.shape[-1])])
