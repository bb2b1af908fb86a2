"""What a captioner gives back."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output, mean_weights


@dataclass(frozen=True, eq=False, repr=False)
class Caption(Output):
    """What a model says of an image, and where it looked for each word."""

    text: str
    score: float  # log probability, with penalties where they were asked for
    words: list[str]  # `</s>` last
    side: int  # the grid that was looked at has side x side regions, row by row
    attention: NDArray[np.float32] | None = None  # [layers, heads, words, regions]
    alternatives: list["Caption"] = field(default_factory=list)  # the next best, if they were asked for

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers; the attention is the mean over layers and heads."""
        record = {"text": self.text, "score": round(self.score, 4), "words": self.words, "side": self.side}
        return record | {
            "attention": mean_weights(self.attention),
            "alternatives": [other.as_json() for other in self.alternatives],
        }
