"""What a machine gives back."""

from dataclasses import dataclass
from typing import Any

from saccade.tasks.algorithms.trace import Array
from saccade.tasks.output import Output, mean_weights


@dataclass(frozen=True, eq=False, repr=False)
class MachineOutput(Output):
    """What a machine answered to one sequence, step by step."""

    outputs: Array  # [T, O], how likely a 1 is
    attention: Array | None = None  # [1, heads, T, N], those that read first, if it was asked for

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        outputs = self.outputs.astype(float).round(4).tolist()
        return {"outputs": outputs, "attention": mean_weights(self.attention)}
