"""How good orders are."""

from collections.abc import Sequence

from saccade.metrics import covered_area, same_cycle
from saccade.tasks.pointing.problems import Problem, ProblemKind


def score_orders(
    problems: Sequence[Problem], found: Sequence[Sequence[int]], *, problem: ProblemKind | None
) -> dict[str, float]:
    """Percentages: how many orders are exactly right, and of hulls the area that is covered, on average.

    A hull is right wherever it begins.
    """
    pairs = list(zip(problems, found, strict=True))
    if problem != "hull":
        return {"exact_match": 100 * sum(list(order) == one.answer for one, order in pairs) / len(pairs)}
    return {
        "exact_match": 100 * sum(same_cycle(order, one.answer) for one, order in pairs) / len(pairs),
        "area": 100 * sum(covered_area(one.inputs, order, one.answer) for one, order in pairs) / len(pairs),
    }
