"""The ways from scores to weights, and the table of their names."""

from collections.abc import Callable

from saccade.attention.weightings.choice import Choice, moving_baseline
from saccade.attention.weightings.hard import Hard
from saccade.attention.weightings.local import LocalMonotonic, LocalPredictive
from saccade.attention.weightings.monotonic import Monotonic
from saccade.attention.weightings.soft import Soft
from saccade.attention.weightings.sparse import Sparse, sparsemax
from saccade.attention.weightings.weighting import Weighting, WeightingOutput, WindowedSoftmax

# Half the width of a local window when it is asked for by name, as in Luong 2015.
WINDOW = 10

# One line a weighting: its name, and how to make it from the size of a query.
WEIGHTINGS: dict[str, Callable[[int], Weighting]] = {
    "soft": lambda query_dim: Soft(),
    "hard": lambda query_dim: Hard("reinforce", expected=0.5),
    "straight-through": lambda query_dim: Hard("straight-through"),
    "local-m": lambda query_dim: LocalMonotonic(WINDOW),
    "local-p": lambda query_dim: LocalPredictive(query_dim, WINDOW),
    "monotonic": lambda query_dim: Monotonic(),
    "sparse": lambda query_dim: Sparse(),
}


def make_weighting(name: str, query_dim: int) -> Weighting:
    """The weighting of that name, with its usual settings, for queries of this size."""
    if name not in WEIGHTINGS:
        raise ValueError(f"weighting: found {name!r}, wanted one of {', '.join(WEIGHTINGS)}")
    return WEIGHTINGS[name](query_dim)


__all__ = [
    "WEIGHTINGS",
    "WINDOW",
    "Choice",
    "Hard",
    "LocalMonotonic",
    "LocalPredictive",
    "Monotonic",
    "Soft",
    "Sparse",
    "Weighting",
    "WeightingOutput",
    "WindowedSoftmax",
    "make_weighting",
    "moving_baseline",
    "sparsemax",
]
