"""What a text classifier gives back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output, mean_weights


@dataclass(frozen=True, eq=False, repr=False)
class LabelledOutput(Output):
    """What a text is."""

    text: str
    label: str
    probability: float  # of the label
    probabilities: dict[str, float]  # of all labels, the likeliest first
    tokens: list[str]  # that were read
    note: str = ""  # what else there is to know: tokens that are unknown, a text that is longer than the model reads
    # [1, 1, 1, tokens]: which of them decided, if it was asked for and the pooling tells
    attention: NDArray[np.float32] | None = None
    # [layers, heads, tokens, tokens], a start first: what they saw of each other, if the net looks
    self_attention: NDArray[np.float32] | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers; the attention is that of the pooling, a row."""
        shares = {name: round(share, 6) for name, share in self.probabilities.items()}
        record = {"text": self.text, "label": self.label, "probabilities": shares}
        return record | {"tokens": self.tokens, "note": self.note, "attention": mean_weights(self.attention)}
