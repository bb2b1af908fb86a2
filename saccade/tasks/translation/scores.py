"""How good what was written is, by the figures that are usual for it."""

from collections.abc import Sequence

from saccade.metrics import score_answers, score_rouge, score_translations
from saccade.tasks.translation.settings import Purpose


def score_outputs(purpose: Purpose, outputs: Sequence[str], rights: Sequence[Sequence[str]]) -> dict[str, float]:
    """The scores in percent. Of summaries and answers the best of all right ones counts, of translations the first."""
    if purpose == "answer":
        return score_answers(outputs, rights)
    if purpose == "summarize":
        exact = sum(output in right for output, right in zip(outputs, rights, strict=True))
        return {**score_rouge(outputs, rights), "exact_match": 100 * exact / len(outputs)}
    scores = score_translations(outputs, [right[0] for right in rights])
    return {name: score.value for name, score in scores.items()}
