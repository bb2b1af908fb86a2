"""One token after the other, without looking back: greedy search and sampling, over any decoder.

Letters: `R` rows (active outputs), `V` vocabulary.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from saccade.decode.prefix import begin
from saccade.decode.rules import Hypothesis, Rules, make_rules
from saccade.nets import Encoded, Searchable
from saccade.text import END

StateT = TypeVar("StateT")

Watch = Callable[[Tensor, Tensor, Tensor], None]  # is told of each step: which outputs, their tokens, log probabilities


def greedy_search(
    decoder: Searchable[StateT],
    encoded: Encoded | None,
    *,
    limits: Sequence[int],
    prefixes: Sequence[Sequence[int]] | None = None,
    score_prefixes: bool = True,
    watch: Watch | None = None,
) -> list[Hypothesis]:
    """The likeliest token at each step. The arguments are those of `beam_search`.

    score_prefixes  False: it is not asked how likely the prefixes are, which costs a second reading of them
    watch           is told each token as it is written
    """

    def choose(logits: Tensor, rules: Rules, rows: Tensor, position: int) -> tuple[Tensor, Tensor]:
        log_probs, tokens = rules.best(logits, position, 1)
        return tokens[:, 0], log_probs[:, 0]

    return _generate_rows(
        decoder, encoded, choose, limits, prefixes, best=1, score_prefixes=score_prefixes, watch=watch
    )


def sample(
    decoder: Searchable[StateT],
    encoded: Encoded | None,
    *,
    limits: Sequence[int],
    uniforms: Tensor,
    prefixes: Sequence[Sequence[int]] | None = None,
    score_prefixes: bool = True,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    watch: Watch | None = None,
) -> list[Hypothesis]:
    """Draw each token from what the model thinks of it.

    uniforms        `[R, T]` numbers in [0, 1), one for each token that may be drawn: the same numbers, the same output
    score_prefixes  False: it is not asked how likely the prefixes are, which costs a second reading of them
    temperature     below 1 sharpens the distribution, above 1 flattens it
    top_k           only the k likeliest tokens can be drawn
    top_p           only the likeliest tokens that together have this probability (Holtzman 2020)
    watch           is told each token as it is written
    """

    def choose(logits: Tensor, rules: Rules, rows: Tensor, position: int) -> tuple[Tensor, Tensor]:
        log_probs = rules.apply(logits, position)
        tokens = draw(log_probs, uniforms[rows, position], temperature=temperature, top_k=top_k, top_p=top_p)
        return tokens, log_probs.gather(1, tokens[:, None]).squeeze(1)

    return _generate_rows(
        decoder, encoded, choose, limits, prefixes, best=None, score_prefixes=score_prefixes, watch=watch
    )


def draw(log_probs: Tensor, uniforms: Tensor, *, temperature: float, top_k: int | None, top_p: float) -> Tensor:
    """One token for each row `[R, V]`, where the numbers `uniforms` `[R]` in [0, 1) fall.

    Tokens lie side by side in the order of the vocabulary, not of their probability: which of two that are nearly as
    likely comes first would hang on the last digit, and so on the neighbours in a batch.
    """
    probabilities = (log_probs / temperature).softmax(-1)
    if top_k is not None or top_p < 1:
        likeliest, order = probabilities.sort(stable=True, descending=True)
        kept = likeliest.cumsum(-1) - likeliest < top_p  # what the likelier ones have together
        kept[:, 0] = True
        if top_k is not None:
            kept[:, top_k:] = False
        probabilities = probabilities * torch.zeros_like(kept).scatter(-1, order, kept)
    sums = probabilities.double().cumsum(-1)
    total = sums[:, -1:]
    found = torch.searchsorted(sums, uniforms[:, None] * total, right=True)
    last = (sums < total).sum(-1, keepdim=True)  # rounding may carry a number near 1 past the end
    return torch.minimum(found, last).squeeze(-1)


@torch.inference_mode()
def _generate_rows(
    decoder: Searchable[StateT],
    encoded: Encoded | None,
    choose: Callable[[Tensor, Rules, Tensor, int], tuple[Tensor, Tensor]],
    limits: Sequence[int],
    prefixes: Sequence[Sequence[int]] | None,
    *,
    best: int | None,
    score_prefixes: bool,
    watch: Watch | None,
) -> list[Hypothesis]:
    """Write what `choose(logits, rules, rows, position)` says: tokens and their log probabilities, for each row.

    It looks only at the `best` highest logits that may be written, or at any of them if that is None. Outputs that have
    ended leave the batch.
    """
    rules = make_rules(limits, prefixes)
    state, tokens, position, log_prob = begin(
        decoder, encoded, size=len(limits), prefixes=prefixes, score_prefixes=score_prefixes
    )
    rows = torch.arange(len(limits))  # which output each row of the batch is
    written: list[list[int]] = [list(prefix[:position]) for prefix in prefixes or [()] * len(limits)]
    while len(rows):
        step = decoder.step(tokens, state, best=None if best is None else rules.candidates(position, best))
        tokens, added = choose(step.logits, rules, rows, position)
        log_prob[rows] += added
        if watch is not None:
            watch(rows, tokens, added)
        for row, token in zip(rows.tolist(), tokens.tolist(), strict=True):
            written[row].append(token)
        position += 1
        state = step.state
        # at its limit a row is forced to end; one whose logits are no numbers does not, and would go on for ever
        active = ((tokens != END) & (rules.limits > position)).nonzero().squeeze(1)
        if len(active) < len(rows):
            rows, tokens, rules = rows[active], tokens[active], rules.select(active)
            state = decoder.reorder(state, active) if len(active) else state
    return [Hypothesis(ids, score, score) for ids, score in zip(written, log_prob.tolist(), strict=True)]
