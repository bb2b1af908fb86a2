"""Beam search, over any decoder.

Letters: `N` sentences under way, `K` beams of each, `V` vocabulary, `S` source items.
"""

from collections.abc import Sequence
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.data import END, START
from saccade.decode.rules import Hypothesis, coverage_penalty, length_penalty, make_rules
from saccade.decode.trace import UNTRACED, Trace
from saccade.nets import Decoder, Encoded, spread

StateT = TypeVar("StateT")


@torch.inference_mode()
def beam_search(
    decoder: Decoder[StateT],
    encoded: Encoded,
    *,
    beam: int,
    limits: Sequence[int],
    best: int = 1,
    prefixes: Sequence[Sequence[int]] | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    trace: Trace = UNTRACED,
) -> list[list[Hypothesis]]:
    """The `best` outputs that are found for each sentence, the best first.

    At each step the `beam` likeliest continuations stay. One that ends is put aside, if it is among the first `beam`
    of all candidates. A sentence is done, and leaves the batch, when it has `beam` ended ones, or when nothing under
    way can still beat the worst that will be returned.

    limits    for each sentence, how many tokens it may have, END among them
    prefixes  for each sentence, the tokens that it has to begin with
    alpha     the length penalty: above 0, longer outputs are favoured
    beta      the coverage penalty: above 0, outputs that looked at the whole source are favoured
    trace     where to write down what was tried
    """
    rules = make_rules(limits, prefixes)
    # one row for each beam; all but the first of a sentence begin as impossible, or they would all be the same
    rows = spread(len(limits), beam)  # [N * K]
    state = decoder.start(encoded, copies=beam)
    rules = rules.select(rows)
    real = encoded.mask[:, 0].index_select(0, rows)  # [N * K, S]
    scores = torch.full((len(limits), beam), -torch.inf)
    scores[:, 0] = 0.0
    history = torch.empty(len(rows), 0, dtype=torch.long)
    tokens = torch.full((len(rows),), START)
    coverage = torch.zeros(real.shape) if beta else None

    ended: list[list[Hypothesis]] = [[] for _ in limits]
    under_way = list(range(len(limits)))  # the sentence of each group of rows
    place = 0
    trace.begin(len(limits), beam)
    while under_way:
        step = decoder.step(tokens, state, need_weights=coverage is not None)
        log_probs, next_tokens = rules.best(step.logits, place, 2 * beam)  # [N * K, C], more cannot be of use
        if coverage is not None and step.weights is not None:
            coverage = coverage + step.weights.mean((1, 2))
        place += 1

        size = log_probs.shape[1]
        candidates = (scores.flatten()[:, None] + log_probs).view(len(under_way), -1)  # [N, K * C]
        top, where = candidates.topk(min(2 * beam, candidates.shape[1]), dim=1)  # [N, 2K]
        written = next_tokens.view(len(under_way), -1).gather(1, where)
        ends = written == END
        # what ends now, of the first K
        for group, rank in (ends & top.isfinite())[:, :beam].nonzero().tolist():
            row = group * beam + int(where[group, rank]) // size
            log_prob, ids = float(top[group, rank]), [*history[row].tolist(), END]
            penalty = 0.0 if coverage is None else float(coverage_penalty(coverage[row], real[row], beta))
            score = log_prob / length_penalty(place, alpha) + penalty
            ended[under_way[group]].append(Hypothesis(ids, score, log_prob))
            trace.end(row, END, log_prob, score)
        # what goes on: the first K that do not end
        scores, kept = top.masked_fill(ends, -torch.inf).topk(min(beam, top.shape[1]), dim=1)  # [N, K]
        scores, where, written = _fill(beam, scores, where.gather(1, kept), written.gather(1, kept))
        going = [
            group
            for group, (sentence, limit, score) in enumerate(
                zip(under_way, rules.limits[::beam].tolist(), scores[:, 0].tolist(), strict=True)
            )
            if place < limit and not _is_done(ended[sentence], score, beam, best, limit, alpha)
        ]
        groups = torch.tensor(going, dtype=torch.long)
        some_leave = len(going) < len(under_way)
        if some_leave:
            where, written, scores = where[groups], written[groups], scores[groups]
            under_way = [under_way[group] for group in going]
        rows = (groups[:, None] * beam + where // size).flatten()
        tokens = written.flatten()
        trace.go_on(rows, tokens, scores.flatten())
        if under_way:
            state = decoder.reorder(step.state, rows)
            history = torch.cat((history[rows], tokens[:, None]), dim=1)
            coverage = None if coverage is None else coverage[rows]
            if some_leave:  # these are the same for all rows of a sentence
                rules, real = rules.select(rows), real[rows]
    return [sorted(found, key=lambda hypothesis: -hypothesis.score)[:best] for found in ended]


def _fill(beam: int, scores: Tensor, where: Tensor, written: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """All three `[N, K]`, where a vocabulary smaller than the beam leaves fewer: the rest is impossible."""
    if scores.shape[1] == beam:
        return scores, where, written
    room = (0, beam - scores.shape[1])
    return F.pad(scores, room, value=-torch.inf), F.pad(where, room), F.pad(written, room)


def _is_done(ended: list[Hypothesis], best_under_way: float, beam: int, best: int, limit: int, alpha: float) -> bool:
    """Whether a sentence has enough, or can find nothing better: what is under way only gets less likely."""
    if best_under_way == -torch.inf or len(ended) >= max(beam, best):
        return True
    if len(ended) < best:
        return False
    worst_returned = sorted((hypothesis.score for hypothesis in ended), reverse=True)[best - 1]
    return best_under_way / length_penalty(limit, max(alpha, 0.0)) <= worst_returned
