"""What a translator gives back."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output, mean_weights
from saccade.tasks.translation.forced_decoding import ForcedDecoding


@dataclass(frozen=True, eq=False, repr=False)
class Translation(Output):
    """A sentence in the other language, and what the model looked at for each of its words."""

    text: str
    score: float  # log probability, with penalties where they were asked for
    source_words: list[str]  # as they were written, `</s>` last
    target_words: list[str]  # `</s>` last
    attention: NDArray[np.float32] | None = None  # [layers, heads, target words, source words]
    alternatives: list["Translation"] = field(default_factory=list)  # the next best, if they were asked for
    forced_decoding: ForcedDecoding | None = None  # all that was looked at, with the attention
    parts: list["Translation"] = field(default_factory=list)  # of a sentence that was split; they have the attention
    note: str = ""  # what was done about a sentence that is longer than the model reads

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers; the attention is the mean over layers and heads."""
        record = {"text": self.text, "score": round(self.score, 4), "source_words": self.source_words}
        record |= {"target_words": self.target_words, "attention": mean_weights(self.attention)}
        record |= {"alternatives": [other.as_json() for other in self.alternatives]}
        return record | ({"parts": [part.as_json() for part in self.parts]} if self.parts else {})


def join_parts(parts: Sequence[Translation]) -> Translation:
    """One translation of those of a sentence's parts; each of its alternatives is made of those of one rank.

    Each part looked at nothing but itself, and has an end of its own, in `source_words` and in `target_words`.
    """
    if len(parts) == 1:
        return parts[0]
    best, *others = (_join(rank) for rank in zip(*([part, *part.alternatives] for part in parts), strict=False))
    return replace(best, alternatives=others, parts=[replace(part, alternatives=[]) for part in parts])


def _join(parts: Sequence[Translation]) -> Translation:
    return Translation(
        " ".join(part.text for part in parts if part.text),
        sum(part.score for part in parts),
        [word for part in parts for word in part.source_words],
        [word for part in parts for word in part.target_words],
    )
