"""What a machine did with one sequence, step by step."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Output):
    """What a machine did with one sequence, step by step. Letters: `T` steps, `N` locations, `M` numbers at each."""

    inputs: Array  # [T, I]
    outputs: Array  # [T, O], how likely a 1 is
    adds: Array  # [W, T, M], by each head that writes
    erases: Array  # [W, T, M]
    reads: Array  # [R, T, M], by each head that reads
    gates: Array  # [H, T], g: 0 is where it was, 1 is where the content is
    betas: Array  # [H, T], β of the content
    gammas: Array  # [H, T], γ of the sharpening
    shifts: Array  # [H, T], the mean move in locations
    memories: Array  # [T, N, M], after each step
    attention: Array | None  # [1, H, T, N], the R that read first

    @property
    def weights(self) -> Array:
        """`[H, T, N]`."""
        assert self.attention is not None
        return self.attention[0]

    @property
    def read_weights(self) -> Array:
        """`[R, T, N]`."""
        return self.weights[: len(self.reads)]

    @property
    def write_weights(self) -> Array:
        """`[W, T, N]`."""
        return self.weights[len(self.reads) :]

    def as_json(self) -> dict[str, Any]:
        """Plain lists of numbers."""
        named = {name: array for name, array in vars(self).items() if name != "attention"} | {"weights": self.weights}
        return {name: array.tolist() for name, array in named.items()}
