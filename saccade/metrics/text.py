"""How good translations are: BLEU and chrF, by sacrebleu, and the share that is exactly right."""

from collections.abc import Sequence
from typing import NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF


class Score(NamedTuple):
    """A figure with the signature that says how it came about."""

    value: float
    signature: str


def score_translations(outputs: Sequence[str], references: Sequence[str]) -> dict[str, Score]:
    """All figures of the translations of a test set, one reference each.

    bleu        BLEU (Papineni 2002), cased, tokenised as mteval-v13a does
    bleu_lower  the same, of lower-cased text: the figure that papers on Multi30k report
    chrf        chrF (Popović 2015)
    exact       percent of the outputs that equal their reference
    """
    if len(outputs) != len(references):
        raise ValueError(f"references: found {len(references)}, wanted {len(outputs)}, one for each output")
    if not outputs:
        raise ValueError("outputs: found none, wanted at least one")
    scores: dict[str, Score] = {}
    for name, metric in (
        ("bleu", BLEU(tokenize="13a")),
        ("bleu_lower", BLEU(tokenize="13a", lowercase=True)),
        ("chrf", CHRF()),
    ):
        value = metric.corpus_score(list(outputs), [list(references)]).score
        scores[name] = Score(value, str(metric.get_signature()))
    right = sum(output == reference for output, reference in zip(outputs, references, strict=True))
    scores["exact"] = Score(100 * right / len(outputs), "equal strings")
    return scores
