"""Beam search, over any decoder.

Letters: `N` active sentences, `K` beams of each, `V` vocabulary, `S` source items.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from saccade.base.errors import InputError
from saccade.decode.prefix import begin
from saccade.decode.rules import Hypothesis, coverage_penalty, length_penalty, make_rules
from saccade.decode.trace import NO_TRACE, Trace
from saccade.nets import Encoded, Searchable, repeat_rows
from saccade.text import END

StateT = TypeVar("StateT")
Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


@torch.inference_mode()
def beam_search(
    decoder: Searchable[StateT],
    encoded: Encoded | None,
    *,
    beam: int,
    limits: Sequence[int],
    best: int = 1,
    prefixes: Sequence[Sequence[int]] | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    early_stopping: bool = True,
    trace: Trace = NO_TRACE,
) -> list[list[Hypothesis]]:
    """The `best` outputs that are found for each sentence, the best first.

    At each step the `beam` likeliest continuations stay. One that ends is put aside, if it is among the first `beam`
    of all candidates. A sentence is done, and leaves the batch, when it has `beam` finished ones, or when nothing
    active can still beat the worst that will be returned.

    limits          for each sentence, how many tokens it may have, END among them
    prefixes        for each sentence, the tokens that it has to begin with
    alpha           the length penalty: above 0, longer outputs are favoured
    beta            the coverage penalty: above 0, outputs that looked at the whole source are favoured
    early_stopping  stop after `beam` finished ones; False: go on while something better may come, which matters where
                    there are so few tokens to choose from that END is always among the first
    trace           where to write down what was tried
    """
    rules = make_rules(limits, prefixes)
    # one row for each beam; all but the first of a sentence begin as impossible, or they would all be the same
    rows = repeat_rows(len(limits), beam)  # [N * K]
    at_once = not beta and trace is NO_TRACE
    start = begin(decoder, encoded, size=len(limits), prefixes=prefixes, copies=beam, at_once=at_once)
    state, tokens, position, of_prefixes = start
    sentence_limits, rules = rules.limits.tolist(), rules.select(rows)
    real = torch.zeros(len(rows), 0) if encoded is None else encoded.mask[:, 0].index_select(0, rows)  # [N * K, S]
    scores = np.full((len(limits), beam), -np.inf, dtype=np.float32)  # [N, K]
    scores[:, 0] = of_prefixes.numpy()
    coverage = torch.zeros(real.shape) if beta else None

    back_pointers = _BackPointers()
    finished: list[list[_Finished]] = [[] for _ in limits]
    active = list(range(len(limits)))  # the sentence of each group of rows
    trace.begin(len(limits), beam)
    while active:
        step = decoder.step(tokens, state, need_weights=coverage is not None, best=rules.candidates(position, 2 * beam))
        log_probs, next_tokens = rules.best(step.logits, position, 2 * beam)  # [N * K, C], more cannot be of use
        if coverage is not None:
            coverage = coverage + _mean_attention(step.weights)
        position += 1

        # the book is kept in numpy: for numbers as few as these, calling torch costs several times as much
        size, groups = log_probs.shape[1], np.arange(len(active))[:, None]
        candidates = (scores[:, :, None] + log_probs.numpy().reshape(-1, beam, size)).reshape(len(active), -1)
        where = np.argsort(-candidates, axis=1, kind="stable")[:, : 2 * beam]  # [N, 2K] of K * C
        top, written = candidates[groups, where], next_tokens.numpy().reshape(len(active), -1)[groups, where]
        ends = written == END
        # what ends now, of the first K
        for group, rank in np.argwhere((ends & np.isfinite(top))[:, :beam]).tolist():
            row = group * beam + int(where[group, rank]) // size
            log_prob = float(top[group, rank])
            penalty = 0.0 if coverage is None else float(coverage_penalty(coverage[row], real[row], beta))
            score = log_prob / length_penalty(position, alpha) + penalty
            finished[active[group]].append(_Finished(score, log_prob, position - 1, row))
            trace.end(row, END, log_prob, score)
        # what goes on: the first K that do not end
        top[ends] = -np.inf
        kept = np.argsort(-top, axis=1, kind="stable")[:, :beam]  # [N, K]
        scores, where, written = _pad_beams(beam, top[groups, kept], where[groups, kept], written[groups, kept])
        enough = beam if early_stopping else None
        remaining = [
            group
            for group, (sentence, score) in enumerate(zip(active, scores[:, 0].tolist(), strict=True))
            if position < sentence_limits[sentence]
            and not _is_done(finished[sentence], score, enough, best, sentence_limits[sentence], alpha)
        ]
        some_finished = len(remaining) < len(active)
        if some_finished:
            where, written, scores, groups = where[remaining], written[remaining], scores[remaining], groups[remaining]
            active = [active[group] for group in remaining]
        from_rows = (groups * beam + where // size).ravel()
        rows, tokens = torch.from_numpy(from_rows), torch.from_numpy(written.ravel())
        trace.extend(rows, tokens, torch.from_numpy(scores.ravel()))
        if active:
            state = decoder.reorder(step.state, rows)
            back_pointers.add(from_rows, written.ravel())
            coverage = None if coverage is None else coverage[rows]
            if some_finished:  # these are the same for all rows of a sentence
                rules, real = rules.select(rows), real[rows]
    return [
        [
            Hypothesis([*given[: start.length], *back_pointers.of(one.row, one.length - start.length), END], *one[:2])
            for one in _highest(found, best)
        ]
        for given, found in zip(prefixes or [()] * len(limits), finished, strict=True)
    ]


class _Finished(NamedTuple):
    """A hypothesis that has ended. What it wrote is looked up only if it is among the best."""

    score: float
    log_prob: float
    length: int  # tokens before its END
    row: int  # of the search, when it finished


def _highest(finished: list[_Finished], best: int) -> list[_Finished]:
    return sorted(finished, key=lambda one: -one.score)[:best]


def _mean_attention(weights: Tensor | None) -> Tensor:
    """What each row looked at in a step, the mean of layers and heads: `[N * K, L, H, S]` -> `[N * K, S]`."""
    if weights is None:
        raise InputError(
            "coverage penalty: found one, but this model has no attention to cover anything with; set it to 0"
        )
    return weights.mean((1, 2))


class _BackPointers:
    """What all rows wrote: at each step the token of each row, and which row of the step before it goes on from."""

    def __init__(self) -> None:
        self._steps: list[tuple[Numbers, Numbers]] = []

    def add(self, rows: Numbers, tokens: Numbers) -> None:
        self._steps.append((rows, tokens))

    def of(self, row: int, length: int) -> list[int]:
        """The first `length` tokens of what is a row after so many steps, the first first."""
        backward: list[int] = []
        for rows, tokens in reversed(self._steps[:length]):
            backward.append(int(tokens[row]))
            row = int(rows[row])
        return backward[::-1]


def _pad_beams(beam: int, scores: Floats, where: Numbers, written: Numbers) -> tuple[Floats, Numbers, Numbers]:
    """All three `[N, K]`, where a vocabulary smaller than the beam leaves fewer: the rest is impossible."""
    if scores.shape[1] == beam:
        return scores, where, written
    padding = ((0, 0), (0, beam - scores.shape[1]))
    return np.pad(scores, padding, constant_values=-np.inf), np.pad(where, padding), np.pad(written, padding)


def _is_done(
    finished: list[_Finished], best_active: float, enough: int | None, best: int, limit: int, alpha: float
) -> bool:
    """Whether a sentence has enough, or can find nothing better: what is active only gets less likely."""
    if best_active == -torch.inf or (enough is not None and len(finished) >= max(enough, best)):
        return True
    if len(finished) < best:
        return False
    worst_returned = sorted((hypothesis.score for hypothesis in finished), reverse=True)[best - 1]
    return best_active / length_penalty(limit, max(alpha, 0.0)) <= worst_returned
