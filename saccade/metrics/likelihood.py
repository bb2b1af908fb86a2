"""How well a model foresees a text: perplexity, and what that is in units that do not depend on its vocabulary."""

import math
from typing import NamedTuple


class TextScore(NamedTuple):
    """What a text costs a model. Only the last two can be compared between vocabularies."""

    perplexity: float  # as if at each token it had to guess among so many
    nats_per_token: float
    bits_per_character: float
    bits_per_byte: float


def score_text(log_probability: float, *, tokens: int, characters: int, utf8_bytes: int) -> TextScore:
    """The figures of a text from the sum of ln P(token | those before) and from how long it is, counted in three ways.

    nats per token = -Σ ln P / tokens,  perplexity = e^(nats per token),
    bits per character = -Σ ln P / (ln 2 · characters),  bits per byte = -Σ ln P / (ln 2 · bytes of UTF-8)

    `tokens` are those that the sum is over, ends of documents among them; `characters` and `utf8_bytes` are the
    text's own, whatever it was cut into.
    """
    for name, count in (("tokens", tokens), ("characters", characters), ("utf8_bytes", utf8_bytes)):
        if count < 1:
            raise ValueError(f"{name}: found {count}, wanted at least 1")
    if not log_probability <= 0:  # nor is NaN
        raise ValueError(f"log_probability: found {log_probability}, wanted a sum of logarithms, at most 0")
    nats = abs(log_probability)
    bits = nats / math.log(2)
    mean = nats / tokens
    perplexity = math.exp(mean) if mean < math.log(1e308) else math.inf
    return TextScore(perplexity, mean, bits / characters, bits / utf8_bytes)
