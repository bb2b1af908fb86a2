"""What a classifier gives back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output, mean_weights


@dataclass(frozen=True, eq=False, repr=False)
class ClassifierOutput(Output):
    """What an image is."""

    label: str
    probability: float
    ranking: list[tuple[str, float]]  # all classes, the likeliest first
    path: NDArray[np.float32] | None = None  # [glimpses, 2], where each was: x and y from -1 to 1
    # [1, 1, places, places], if it was asked for, of a CNN with self-attention: what each place of the last block's
    # square feature map looked at, row by row, or of the block that was asked for
    attention: NDArray[np.float32] | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        path = None if self.path is None else self.path.astype(float).round(4).tolist()
        shares = {name: round(share, 6) for name, share in self.ranking}
        return {"label": self.label, "classes": shares, "path": path, "attention": mean_weights(self.attention)}
