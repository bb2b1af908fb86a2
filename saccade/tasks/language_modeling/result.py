"""What a language model gives back."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.tasks.output import Output, mean_weights


@dataclass(frozen=True, eq=False, repr=False)
class Generated(Output):
    """How a text goes on."""

    prompt: str
    text: str  # what was written behind the prompt
    prompt_tokens: list[str]
    tokens: list[str]  # that were written; `</s>` last, if the model ended the text by itself
    log_probs: list[float]  # ln P of each of `tokens`, after all that stands before it
    note: str = ""  # what else there is to know: characters of the prompt that are unknown, a window that slid
    alternatives: list["Generated"] = field(default_factory=list["Generated"])  # the other samples
    # [layers, heads, tokens, tokens before], if it was asked for: of prompt and text, or of the last tokens that fit
    # into the context
    attention: NDArray[np.float32] | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers; the attention is the mean over layers and heads."""
        record = {"prompt": self.prompt, "text": self.text, "tokens": self.tokens}
        record |= {"log_probs": [round(value, 4) for value in self.log_probs], "note": self.note}
        record |= {"attention": mean_weights(self.attention)}
        return record | {"alternatives": [other.as_json() for other in self.alternatives]}


@dataclass(frozen=True, eq=False, repr=False)
class ScoredText(Output):
    """How well a text was foreseen."""

    text: str
    tokens: list[str]
    log_probs: list[float]  # ln P of each token, after all that stands before it
    log_prob: float  # their sum
    perplexity: float  # as if at each token the model had to guess among so many
    bits_per_character: float
    note: str = ""  # what else there is to know, as of `Generated`
    # [layers, heads, tokens, tokens before], if it was asked for: of the text, or of the last tokens that fit
    attention: NDArray[np.float32] | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers; the attention is the mean over layers and heads."""
        record = {"text": self.text, "log_prob": round(self.log_prob, 4), "perplexity": round(self.perplexity, 4)}
        record |= {"bits_per_character": round(self.bits_per_character, 4), "tokens": self.tokens}
        record |= {"log_probs": [round(value, 4) for value in self.log_probs], "note": self.note}
        return record | {"attention": mean_weights(self.attention)}
