"""How a translation is found, and what was tried on the way."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from saccade.errors import InputError


@dataclass(frozen=True)
class Search:
    """How to find a translation. A beam of 1 is greedy search."""

    beam: int = 5
    nbest: int = 1  # how many translations of each sentence
    length_penalty: float = 1.0  # 0 ranks by the log probability alone, and so favours short ones
    coverage_penalty: float = 0.0  # above 0 favours those that looked at every word
    sampling: bool = False  # draw instead of search
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0  # of the draws

    def __post_init__(self) -> None:
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
        expect("length_penalty", self.length_penalty, 0 <= self.length_penalty <= 10, "0 to 10")
        expect("coverage_penalty", self.coverage_penalty, 0 <= self.coverage_penalty <= 10, "0 to 10")
        expect("temperature", self.temperature, 0 < self.temperature <= 100, "above 0, up to 100")
        expect("top_k", self.top_k, self.top_k is None or self.top_k >= 1, "at least 1")
        expect("top_p", self.top_p, 0 < self.top_p <= 1, "above 0, up to 1")


def expect(name: str, found: object, fits: bool, wanted: str) -> None:  # noqa: FBT001
    if not fits:
        raise InputError(f"{name}: found {found}, wanted {wanted}")


def read_search(options: dict[str, Any]) -> Search:
    """The search that these options describe; all of them have to be fields of `Search`."""
    unknown = [name for name in options if name not in Search.__dataclass_fields__]
    if unknown:
        raise InputError(f"{', '.join(unknown)}: no such option; there are {', '.join(Search.__dataclass_fields__)}")
    return Search(**options)


class TreeNode(NamedTuple):
    """One token of the hypotheses that a beam search tried."""

    parent: int | None  # the place of the token before it; None: it is a first token
    piece: str  # as the vocabulary writes it
    log_prob: float  # of everything up to here
    score: float | None  # with penalties, of a hypothesis that ends here
