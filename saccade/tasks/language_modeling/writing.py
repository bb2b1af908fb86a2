"""How a language model writes on: drawn token by token, or the likeliest each time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TypedDict

import torch
from torch import Tensor

from saccade.base.errors import InputError, expect
from saccade.decode import greedy_search, sample, uniforms_of
from saccade.nets import LanguageNet
from saccade.tasks.language_modeling.sliding import SlidingDecoder

_COLDEST = 1e-3  # below, the logits divided by it would be beyond all numbers


@dataclass(frozen=True)
class Writing:
    """How to write on."""

    tokens: int = 100  # how many, if the model does not end the text before
    samples: int = 1  # how many texts for each prompt
    temperature: float = 1.0  # below 1: fewer surprises; 0: the likeliest token each time
    top_k: int | None = None  # draw from the k likeliest tokens only
    top_p: float = 1.0  # or from the likeliest that have this probability together
    seed: int = 0  # of the draws

    def __post_init__(self) -> None:
        for name in ("tokens", "samples", "top_k", "seed"):
            value = getattr(self, name)
            expect(name, value, isinstance(value, Integral) or (name == "top_k" and value is None), "a whole number")
        expect("tokens", self.tokens, 1 <= self.tokens <= 1_000_000, "1 to 1000000")
        expect("samples", self.samples, 1 <= self.samples <= 1000, "1 to 1000")
        warm = self.temperature == 0 or _COLDEST <= self.temperature <= 100
        expect("temperature", self.temperature, warm, f"0, or {_COLDEST:g} to 100")
        expect("top_k", self.top_k, self.top_k is None or self.top_k >= 1, "at least 1")
        expect("top_p", self.top_p, 0 < self.top_p <= 1, "above 0, up to 1")
        if self.temperature == 0:
            expect("samples", self.samples, self.samples == 1, "1, for at temperature 0 all would be the same")


class WritingOptions(TypedDict, total=False):
    """The fields of `Writing`, for calls that take them by name: `generate(prompts, tokens=50)`."""

    tokens: int
    samples: int
    temperature: float
    top_k: int | None
    top_p: float
    seed: int


def read_writing(options: WritingOptions) -> Writing:
    """How to write, as these options say; all of them have to be fields of `Writing`."""
    unknown = [name for name in options if name not in Writing.__dataclass_fields__]
    if unknown:
        raise InputError(f"{', '.join(unknown)}: no such option; there are {', '.join(Writing.__dataclass_fields__)}")
    return Writing(**options)


@dataclass(frozen=True)
class Written:
    """Tokens that were written, each with its log probability."""

    ids: list[int]
    log_probs: list[float]


def write_on(
    net: LanguageNet,
    prompts: Sequence[Sequence[int]],
    names: Sequence[str],
    how: Writing,
    *,
    context: int,
    told: Callable[[int], None] | None = None,
) -> list[list[Written]]:
    """Go on from each of the prompts, which are of one length: `how.samples` texts each.

    names  what the draws of each prompt belong to: they are the same whatever is written beside it
    told   is told each token of the first text as it is written
    """
    length = len(prompts[0])
    texts = [Written([], []) for _ in range(len(prompts) * how.samples)]

    def watch(rows: Tensor, tokens: Tensor, log_probs: Tensor) -> None:
        for row, token, log_prob in zip(rows.tolist(), tokens.tolist(), log_probs.tolist(), strict=True):
            if len(texts[row].ids) < how.tokens:  # the last is an end that was forced
                texts[row].ids.append(token)
                texts[row].log_probs.append(log_prob)
                if row == 0 and told is not None:
                    told(token)

    decoder = SlidingDecoder(net, context=context)
    given = {
        "limits": [length + how.tokens + 1] * len(texts),
        "prefixes": [prompt for prompt in prompts for _ in range(how.samples)],
        "score_prefixes": False,  # what they are made of is known, and they may be long
        "watch": watch,
    }
    if how.temperature == 0:
        greedy_search(decoder, None, **given)
    else:
        draws = [
            uniforms_of(how.seed, name, number, length + how.tokens + 1)
            for name in names
            for number in range(how.samples)
        ]
        sample(
            decoder,
            None,
            **given,
            uniforms=torch.tensor(draws, dtype=torch.float64),
            temperature=how.temperature,
            top_k=how.top_k,
            top_p=how.top_p,
        )
    return [texts[first : first + how.samples] for first in range(0, len(texts), how.samples)]
