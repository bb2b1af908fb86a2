"""How a translation or a caption is found, and what was tried on the way."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TypedDict, TypeVar

import torch

from saccade.base.errors import InputError, expect
from saccade.decode.beam import beam_search
from saccade.decode.rules import Hypothesis, length_penalty
from saccade.decode.single import greedy_search, sample
from saccade.decode.trace import NO_TRACE, Trace
from saccade.nets import Encoded, Searchable
from saccade.runtime.prepared import PRECISIONS, Precision, running_in

StateT = TypeVar("StateT")


@dataclass(frozen=True)
class Search:
    """How to find an output. A beam of 1 is greedy search."""

    beam: int = 5
    nbest: int = 1  # how many outputs for each input
    length_penalty: float = 1.0  # 0 ranks by the log probability alone, and so favours short ones
    coverage_penalty: float = 0.0  # above 0 favours those that looked at every word
    sampling: bool = False  # draw instead of search
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0  # of the draws
    precision: Precision = "float32"  # of products: `saccade/runtime/linear.py` says what they are

    def __post_init__(self) -> None:
        for name in ("beam", "nbest", "top_k", "seed"):
            value = getattr(self, name)
            expect(name, value, isinstance(value, Integral) or (name == "top_k" and value is None), "a whole number")
        expect("beam", self.beam, 1 <= self.beam <= 1000, "1 to 1000")
        expect("nbest", self.nbest, self.nbest >= 1, "at least 1")
        if not self.sampling:
            expect("nbest", self.nbest, self.nbest <= self.beam, f"at most beam, {self.beam}")
        if not self.sampling:
            for name, value, usual in (
                ("temperature", self.temperature, 1.0),
                ("top_k", self.top_k, None),
                ("top_p", self.top_p, 1.0),
            ):
                expect(name, value, value == usual, "sampling with it, which was not asked for")
        expect("precision", self.precision, self.precision in PRECISIONS, "float32, int8 or exact")
        expect("length_penalty", self.length_penalty, 0 <= self.length_penalty <= 10, "0 to 10")
        expect("coverage_penalty", self.coverage_penalty, 0 <= self.coverage_penalty <= 10, "0 to 10")
        expect("temperature", self.temperature, 0 < self.temperature <= 100, "above 0, up to 100")
        expect("top_k", self.top_k, self.top_k is None or self.top_k >= 1, "at least 1")
        expect("top_p", self.top_p, 0 < self.top_p <= 1, "above 0, up to 1")


class SearchOptions(TypedDict, total=False):
    """The fields of `Search`, for calls that take them by name: `translate(texts, beam=3)`."""

    beam: int
    nbest: int
    length_penalty: float
    coverage_penalty: float
    sampling: bool
    temperature: float
    top_k: int | None
    top_p: float
    seed: int
    precision: Precision


def read_search(options: SearchOptions) -> Search:
    """The search that these options describe; all of them have to be fields of `Search`."""
    unknown = [name for name in options if name not in Search.__dataclass_fields__]
    if unknown:
        raise InputError(f"{', '.join(unknown)}: no such option; there are {', '.join(Search.__dataclass_fields__)}")
    if options.get("sampling") and "beam" in options:
        raise InputError("beam: draws (sampling) know no beam; leave one of the two out")
    return Search(**options)


def generate(
    decoder: Searchable[StateT],
    encoded: Encoded | None,
    how: Search,
    *,
    limits: Sequence[int],
    prefixes: Sequence[Sequence[int]],
    names: Sequence[str],
    trace: Trace = NO_TRACE,
) -> list[list[Hypothesis]]:
    """The outputs for each input, the best first: `nbest` of them.

    limits    for each input, how many tokens its outputs may have
    prefixes  for each input, the tokens that they have to begin with
    names     for each input, what its draws belong to: they are the same wherever it stands
    """
    with running_in(how.precision):
        if how.sampling:
            uniforms = [
                uniforms_of(how.seed, name, number, max(limits)) for name in names for number in range(how.nbest)
            ]
            drawn = sample(
                decoder,
                None if encoded is None else encoded.repeat(how.nbest),
                limits=[limit for limit in limits for _ in range(how.nbest)],
                prefixes=[prefix for prefix in prefixes for _ in range(how.nbest)],
                uniforms=torch.tensor(uniforms, dtype=torch.float64),
                temperature=how.temperature,
                top_k=how.top_k,
                top_p=how.top_p,
            )
            groups = (drawn[first : first + how.nbest] for first in range(0, len(drawn), how.nbest))
            return [sorted(group, key=lambda one: one.score, reverse=True) for group in groups]
        if how.beam == 1 and not how.coverage_penalty and trace is NO_TRACE:
            found = greedy_search(decoder, encoded, limits=limits, prefixes=prefixes)
            # with one hypothesis there is nothing to rank, but its score is on the same scale
            penalties = [length_penalty(len(one.ids), how.length_penalty) for one in found]
            return [[one._replace(score=one.log_prob / penalty)] for one, penalty in zip(found, penalties, strict=True)]
        return beam_search(
            decoder,
            encoded,
            beam=how.beam,
            best=how.nbest,
            limits=limits,
            prefixes=prefixes,
            alpha=how.length_penalty,
            beta=how.coverage_penalty,
            trace=trace,
        )


def uniforms_of(seed: int, name: str, number: int, count: int) -> list[float]:
    """Numbers in [0, 1) that belong to this input, whatever stands beside it in its batch."""
    rng = random.Random(f"{seed} {number} {name}")
    return [rng.random() for _ in range(count)]
