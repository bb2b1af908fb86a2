"""What a pointer network gives back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output, mean_weights


@dataclass(frozen=True, eq=False, repr=False)
class PointerOutput(Output):
    """The answer to a problem."""

    inputs: list[list[float]]  # the problem
    order: list[int]  # indices of inputs, counted from 0
    score: float  # its log probability
    # [1, 1, len(order) + 1, n + 1], if it was asked for: what each step looked at; END is last, of both
    attention: NDArray[np.float32] | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        found = {"inputs": self.inputs, "order": self.order, "score": round(self.score, 6)}
        return found | {"attention": mean_weights(self.attention)}
