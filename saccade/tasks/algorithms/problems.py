"""Problems that ask for a memory, made from a seed: the five of the Neural Turing Machine (Graves 2014, section 4).

    copy                 vectors of bits, to be written again in their order
    repeat-copy          the same, as often as a number says, with a mark at the end
    recall               items of three vectors each; one is shown again, and the item after it is wanted
    ngrams               bits from a random table of 6-grams; each next one is to be foretold
    priority-sort        vectors with priorities; those of the highest four fifths are wanted, the highest first

All sequences of a batch have the same length. Letters: `B` sequences, `T` steps, `I` inputs, `O` outputs, `L` length.
"""

from collections.abc import Callable
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from saccade.base.settings import Settings

Array = NDArray[np.float32]

ITEM = 3  # vectors of an item of recall
CONTEXT = 5  # bits that the next one depends on in ngrams
_KEPT = 0.8  # of the vectors of priority-sort that are wanted: 16 of 20


class AlgorithmSettings(Settings):
    """Which problem, and of what size."""

    make: Literal["copy", "repeat-copy", "recall", "ngrams", "priority-sort"]
    bits: Annotated[int, Field(ge=1, le=256)] = 8  # of a vector; ngrams has one
    min_length: Annotated[int, Field(ge=1, le=10_000)] = 1  # vectors, items of recall, bits of ngrams
    max_length: Annotated[int, Field(ge=1, le=10_000)] = 20
    max_repeats: Annotated[int, Field(ge=1, le=1000)] = 10  # of repeat-copy: at most
    seed: int = 0

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(
                f"min_length: found {self.min_length}, wanted at most {self.max_length}, which is max_length"
            )
        if self.min_length < self.shortest_possible():
            raise ValueError(
                f"min_length: found {self.min_length}, wanted at least {self.shortest_possible()} for {self.make}"
            )
        return self

    def shortest_possible(self) -> int:
        """The shortest length that the problem has."""
        return {"recall": 2, "ngrams": CONTEXT + 1}.get(self.make, 1)

    def channels(self) -> tuple[int, int]:
        """How many numbers go in and come out in each step."""
        if self.make == "ngrams":
            return 1, 1
        marks = {"copy": 1, "repeat-copy": 2, "recall": 2, "priority-sort": 2}[self.make]
        return self.bits + marks, self.bits + (self.make == "repeat-copy")


class Episodes(NamedTuple):
    """A batch of problems with their answers."""

    inputs: Array  # [B, T, I]
    targets: Array  # [B, T, O], each 0 or 1
    scored: NDArray[np.bool_]  # [T], the steps whose outputs count
    phases: list[tuple[str, int]]  # what begins at which step
    length: int  # L: vectors, items or bits


def make_episodes(
    settings: AlgorithmSettings,
    count: int,
    *,
    seed: int | str,
    length: int | None = None,
    repeats: int | None = None,
    share: float = 1.0,
) -> Episodes:
    """So many problems, the same for the same seed.

    Their length, which one batch has in common, is drawn from what the settings allow, if it is not given; and so is
    the number of repeats. A `share` below 1 is for beginners: it draws from the shortest so many lengths.
    Of repeat-copy the first half of the share is for lengths and the second for repeats, and its end is not scored yet:
    who has to know when to end learns to count before learning to store, and then finds no need to store.
    """
    of_lengths, of_repeats = share, share
    if settings.make == "repeat-copy":
        of_lengths, of_repeats = min(1.0, 2 * share), max(0.0, 2 * share - 1)
    rng = np.random.default_rng(list(f"{settings.make} {settings.seed} {seed}".encode()))
    drawn = int(
        rng.integers(
            settings.min_length,
            settings.min_length + round(of_lengths * (settings.max_length - settings.min_length)) + 1,
        )
    )
    again = int(rng.integers(1, 1 + round(of_repeats * (settings.max_repeats - 1)) + 1))
    episodes = _MAKERS[settings.make](
        settings, count, drawn if length is None else length, again if repeats is None else repeats, rng
    )
    if settings.make == "repeat-copy" and share < 1:
        episodes.scored[-1] = False
    return episodes


def _bits(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(0, 2, shape).astype(np.float32)


def _empty(settings: AlgorithmSettings, count: int, steps: int) -> tuple[Array, Array, NDArray[np.bool_]]:
    inputs, outputs = settings.channels()
    return (
        np.zeros((count, steps, inputs), np.float32),
        np.zeros((count, steps, outputs), np.float32),
        np.zeros(steps, np.bool_),
    )


def _copy(settings: AlgorithmSettings, count: int, length: int, _repeats: int, rng: np.random.Generator) -> Episodes:
    vectors = _bits(rng, count, length, settings.bits)
    inputs, targets, scored = _empty(settings, count, 2 * length + 1)
    inputs[:, :length, :-1] = vectors
    inputs[:, length, -1] = 1  # now write
    targets[:, length + 1 :] = vectors
    scored[length + 1 :] = True
    return Episodes(inputs, targets, scored, [("input", 0), ("output", length + 1)], length)


def _repeat_copy(
    settings: AlgorithmSettings, count: int, length: int, repeats: int, rng: np.random.Generator
) -> Episodes:
    vectors = _bits(rng, count, length, settings.bits)
    inputs, targets, scored = _empty(settings, count, length + 1 + length * repeats + 1)
    inputs[:, :length, : settings.bits] = vectors
    inputs[:, length, -2] = 1  # now write, so many times:
    inputs[:, length, -1] = scaled_repeats(repeats, settings.max_repeats)
    targets[:, length + 1 : -1, :-1] = np.tile(vectors, (1, repeats, 1))
    targets[:, -1, -1] = 1  # the end
    scored[length + 1 :] = True
    return Episodes(inputs, targets, scored, [("input", 0), ("output", length + 1)], length)


def scaled_repeats(repeats: int, max_repeats: int) -> float:
    """A number of repeats as the net sees it: with mean 0 and variance 1 over 1 to `max_repeats`."""
    return (repeats - (max_repeats + 1) / 2) / max(((max_repeats**2 - 1) / 12) ** 0.5, 1.0)


def _recall(settings: AlgorithmSettings, count: int, length: int, _repeats: int, rng: np.random.Generator) -> Episodes:
    items = _bits(rng, count, length, ITEM, settings.bits)
    asked = rng.integers(0, length - 1, count)  # any but the last, which nothing comes after
    asking = length * (ITEM + 1)
    inputs, targets, scored = _empty(settings, count, asking + 1 + ITEM + 1 + ITEM)
    for item in range(length):
        first = item * (ITEM + 1)
        inputs[:, first, -2] = 1  # an item follows
        inputs[:, first + 1 : first + 1 + ITEM, : settings.bits] = items[:, item]
    rows = np.arange(count)
    inputs[:, asking, -1] = 1  # the question follows
    inputs[:, asking + 1 : asking + 1 + ITEM, : settings.bits] = items[rows, asked]
    inputs[:, asking + 1 + ITEM, -1] = 1  # and has ended
    targets[:, -ITEM:] = items[rows, asked + 1]
    scored[-ITEM:] = True
    phases = [("items", 0), ("question", asking), ("output", asking + ITEM + 2)]
    return Episodes(inputs, targets, scored, phases, length)


def _ngrams(settings: AlgorithmSettings, count: int, length: int, _repeats: int, rng: np.random.Generator) -> Episodes:
    table = rng.beta(0.5, 0.5, (count, 2**CONTEXT))  # for each sequence, how likely a 1 is after each context
    bits = np.zeros((count, length), np.int64)
    bits[:, :CONTEXT] = rng.integers(0, 2, (count, CONTEXT))
    for step in range(CONTEXT, length):
        likely = table[np.arange(count), context_of(bits, step)]
        bits[:, step] = rng.random(count) < likely
    inputs, targets, scored = _empty(settings, count, length - 1)
    inputs[:, :, 0] = bits[:, :-1]
    targets[:, :, 0] = bits[:, 1:]
    scored[CONTEXT - 1 :] = True
    return Episodes(inputs, targets, scored, [("context", 0), ("output", CONTEXT - 1)], length)


def context_of(bits: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """The number that the bits `[B, L]` before a step make: `[B]`."""
    return bits[:, step - CONTEXT : step] @ (1 << np.arange(CONTEXT))


def best_guesses(bits: NDArray[np.int64]) -> NDArray[np.float64]:
    """How likely a 1 is at each step after the context, for one who knows how such bits are made: `[B, L - CONTEXT]`.

    `(N1 + 1/2) / (N0 + N1 + 1)`, where N1 and N0 count what followed the same context before (Murphy 2012). No machine
    can do better, so it says how good one is at `ngrams`.
    """
    count, length = bits.shape
    seen = np.zeros((count, 2**CONTEXT, 2))
    guesses = np.zeros((count, length - CONTEXT))
    rows = np.arange(count)
    for step in range(CONTEXT, length):
        context = context_of(bits, step)
        zeros, ones = seen[rows, context].T
        guesses[:, step - CONTEXT] = (ones + 0.5) / (zeros + ones + 1)
        seen[rows, context, bits[:, step]] += 1
    return guesses


def _priority_sort(
    settings: AlgorithmSettings, count: int, length: int, _repeats: int, rng: np.random.Generator
) -> Episodes:
    vectors = _bits(rng, count, length, settings.bits)
    priorities = rng.uniform(-1, 1, (count, length)).astype(np.float32)
    wanted = max(1, round(_KEPT * length))
    inputs, targets, scored = _empty(settings, count, length + 1 + wanted)
    inputs[:, :length, : settings.bits] = vectors
    inputs[:, :length, -2] = priorities
    inputs[:, length, -1] = 1  # now write
    highest = np.argsort(-priorities, axis=1, kind="stable")[:, :wanted]
    targets[:, length + 1 :] = np.take_along_axis(vectors, highest[..., None], axis=1)
    scored[length + 1 :] = True
    return Episodes(inputs, targets, scored, [("input", 0), ("output", length + 1)], length)


_MAKERS: dict[str, Callable[[AlgorithmSettings, int, int, int, np.random.Generator], Episodes]] = {
    "copy": _copy,
    "repeat-copy": _repeat_copy,
    "recall": _recall,
    "ngrams": _ngrams,
    "priority-sort": _priority_sort,
}
