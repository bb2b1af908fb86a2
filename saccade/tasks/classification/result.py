"""What a classifier gives back."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output


@dataclass(frozen=True, eq=False, repr=False)
class ClassifierOutput(Output):
    """What an image is."""

    label: str
    probability: float
    ranking: list[tuple[str, float]]  # all classes, the likeliest first
    path: NDArray[np.float32] | None = None  # [glimpses, 2], where each was: x and y from -1 to 1
    # if they were asked for: by the block that self-attention stands after, [height, width, height, width], what each
    # place of the feature map looked at
    self_attention: dict[int, NDArray[np.float32]] = field(default_factory=dict[int, NDArray[np.float32]])

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        path = None if self.path is None else self.path.astype(float).round(4).tolist()
        shares = {name: round(share, 6) for name, share in self.ranking}
        return {"label": self.label, "classes": shares, "path": path}
