"""What a question about a story is answered with."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output, mean_weights


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Output):
    """What a question is answered with."""

    text: str
    probability: float
    ranking: list[tuple[str, float]]  # all words, the likeliest first
    sentences: list[str]  # of the story
    unknown: list[str]  # the words of story and question that the model does not know and passed over, each once
    forgotten: int  # so many sentences at the beginning of the story are more than it can remember
    # [1, 1, hops, sentences], if it was asked for, in the order of the story; nothing of what is forgotten
    attention: NDArray[np.float32] | None = None

    def as_json(self, *, top: int = 5) -> dict[str, Any]:
        """Plain lists and numbers, with the likeliest answers."""
        ranking = {text: round(share, 6) for text, share in self.ranking[:top]}
        found = {"answer": self.text, "probability": round(self.probability, 6), "ranking": ranking}
        return found | {"sentences": self.sentences, "attention": mean_weights(self.attention)}
