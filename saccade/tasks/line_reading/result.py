"""What a reader of lines gives back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output, mean_weights


@dataclass(frozen=True, eq=False, repr=False)
class LineReaderOutput(Output):
    """What stands on a strip, and where."""

    text: str
    letters: list[str]
    # [1, 1, letters, columns], if it was asked for; by CTC how likely each column writes each letter
    attention: NDArray[np.float32] | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        return {"text": self.text, "attention": mean_weights(self.attention)}
