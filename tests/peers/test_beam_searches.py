"""Beam search as fairseq and Hugging Face's transformers have it, in plain lists, over decoders that are tables.

Their rules, which are ours: of twice as many candidates as there are beams, one that ends counts only if it is among
the first `beam`; the likeliest that do not end go on. A sentence is done when `beam` have ended (fairseq, and
early_stopping=True), or when nothing under way can get better than the worst of these (early_stopping="never", which is
`early_stopping=False` here). They divide by length^p, END counted; we by ((5 + length) / 6)^α (Wu 2016), END counted as
well.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from saccade.decode import beam_search
from saccade.nets import Encoded, Searchable, Step, repeat_rows
from saccade.text import END, START

SIZE, POSITIONS, SENTENCES = 9, 5, 3  # of the vocabulary; tokens from END on may be written
Found = list[tuple[float, list[int]]]


class Where(NamedTuple):
    position: int
    sentence: Tensor  # [R]


class Table(Searchable[Where]):
    """Logits by sentence, position and the token before: `[N, T, V, V]`."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__()
        self.logits = logits

    def start(self, encoded: Encoded | None, *, prefix: Tensor | None = None, copies: int = 1) -> Where:
        assert encoded is not None
        return Where(0, repeat_rows(len(encoded.states), copies))

    def step(self, tokens: Tensor, state: Where, *, need_weights: bool = False, best: int | None = None) -> Step[Where]:
        return Step(
            self.logits[state.sentence, state.position, tokens], Where(state.position + 1, state.sentence), None
        )

    def reorder(self, state: Where, index: Tensor) -> Where:
        return Where(state.position, state.sentence[index])


def table(seed: int, *, end: float = 0.0) -> Table:
    """Random numbers, no two hypotheses alike; `end` makes END likelier."""
    logits = 2 * torch.randn(SENTENCES, POSITIONS, SIZE, SIZE, generator=torch.Generator().manual_seed(seed))
    logits[..., END] += end
    return Table(logits)


def searched(decoder: Table, *, beam: int, best: int, alpha: float, early_stopping: bool) -> list[Found]:
    encoded = Encoded(torch.zeros(SENTENCES, 2, 1), torch.ones(SENTENCES, 1, 2, dtype=torch.bool))
    found = beam_search(
        decoder,
        encoded,
        beam=beam,
        best=best,
        limits=[POSITIONS] * SENTENCES,
        alpha=alpha,
        early_stopping=early_stopping,
    )
    return [[(hypothesis.score, hypothesis.ids) for hypothesis in each] for each in found]


def theirs(logits: Tensor, *, beam: int, penalty: Callable[[int], float], early_stopping: bool) -> Found:
    """All that ended for one sentence `[T, V, V]`, the best first, and no more of them than there are beams."""
    log_probs = logits.double().log_softmax(-1)
    under_way: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: Found = []
    for position in range(POSITIONS):
        last_position = position == POSITIONS - 1
        candidates = [
            (log_prob + float(log_probs[position, ids[-1] if ids else START, token]), [*ids, token])
            for log_prob, ids in under_way
            for token in ([END] if last_position else range(END, SIZE))
        ]
        candidates = sorted(candidates, reverse=True)[: 2 * beam]
        for log_prob, ids in candidates[:beam]:
            if ids[-1] == END:
                ended.append((log_prob / penalty(len(ids)), ids))
        under_way = [one for one in candidates if one[1][-1] != END][:beam]
        ended = sorted(ended, reverse=True)
        if len(ended) >= beam and early_stopping:
            break
        if len(ended) >= beam and under_way and max(under_way)[0] / penalty(POSITIONS) <= ended[beam - 1][0]:
            break
    return ended[:beam]


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.7, 2.0])
@pytest.mark.parametrize("beam", [1, 2, 3, 5])
def test_n_best_lists(beam: int, alpha: float, early_stopping: bool) -> None:  # noqa: FBT001
    for seed in range(29):
        decoder = table(seed, end=(0.0, 1.5, 3.0)[seed % 3])
        found = searched(decoder, beam=beam, best=beam, alpha=alpha, early_stopping=early_stopping)
        for sentence in range(SENTENCES):
            wanted = theirs(
                decoder.logits[sentence],
                beam=beam,
                penalty=lambda length: ((5 + length) / 6) ** alpha,
                early_stopping=early_stopping,
            )
            assert [ids for _, ids in found[sentence]] == [ids for _, ids in wanted]
            assert [score for score, _ in found[sentence]] == pytest.approx([score for score, _ in wanted], abs=1e-4)


def chain(*choices: dict[int, float]) -> Table:
    """At each position the same probabilities, whatever stood before: those that are named, and none for the rest."""
    logits = torch.full((SENTENCES, POSITIONS, SIZE, SIZE), -torch.inf)
    for position, probabilities in enumerate(choices):
        for token, probability in probabilities.items():
            logits[:, position, :, token] = math.log(probability)
    return Table(logits)


A, B = 4, 5
# A short output of 0.4, and a long one of 0.6 · 0.9 · 0.9 · 0.9 · 1 = 0.44.
LONG = chain({END: 0.4, A: 0.6}, {END: 0.1, A: 0.9}, {END: 0.1, A: 0.9}, {END: 0.1, A: 0.9}, {END: 1.0})


@pytest.mark.parametrize(("early_stopping", "best"), [(True, [END]), (False, [A, A, A, A, END])])
def test_early_stopping(early_stopping: bool, best: list[int]) -> None:  # noqa: FBT001
    """With two beams, two have ended after two tokens; only who does not stop early sees that going on was better."""
    for found in searched(LONG, beam=2, best=1, alpha=0.0, early_stopping=early_stopping):
        assert found[0][1] == best


def test_what_the_length_penalty_divides_by() -> None:
    """(5 + length) / 6 to the power of α, with END counted: 1 for END alone, 10/6 for five tokens."""
    short, long = math.log(0.4), math.log(0.6 * 0.9**3)
    for alpha in (0.0, 1.0, 2.5):
        found = {len(ids): score for score, ids in searched(LONG, beam=5, best=5, alpha=alpha, early_stopping=False)[0]}
        assert found[1] == pytest.approx(short)
        assert found[5] == pytest.approx(long / (10 / 6) ** alpha)


def test_an_end_past_the_first_beams_does_not_count() -> None:
    """Third of the first candidates, END is passed over by two beams and taken by three."""
    decoder = chain({A: 0.5, B: 0.3, END: 0.2}, {END: 1.0}, {END: 1.0}, {END: 1.0}, {END: 1.0})
    for beam, wanted in ((2, [[A, END], [B, END]]), (3, [[A, END], [B, END], [END]])):
        for found in searched(decoder, beam=beam, best=beam, alpha=0.0, early_stopping=False):
            assert [ids for _, ids in found] == wanted
