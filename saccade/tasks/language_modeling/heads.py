"""What the heads of a language model look back to while they read a text."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from saccade.look import Reading, behind_a_start, find_landmarks
from saccade.nets import LanguageNet
from saccade.nets.settings import LanguageRnnSettings, LanguageTransformerSettings
from saccade.tasks.language_modeling.scoring import self_attention
from saccade.text import START

MOST_TOKENS = 20_000  # of a text; what more would tell is little


def readings_of(
    net: LanguageNet,
    ids: Sequence[int],
    spelled: Sequence[str],
    settings: LanguageRnnSettings | LanguageTransformerSettings,
) -> Iterator[Reading]:
    """A text in parts that fill the context, each behind a start and without what was before; of a net that looks.

    ids      the tokens of the text, of which the first `MOST_TOKENS` are read
    spelled  what each of them stands for, as `spell` gives it
    """
    landmarks, context = find_landmarks(spelled), settings.max_length
    end = min(len(ids), MOST_TOKENS)
    for first in range(0, end, context):
        here = ids[first : min(first + context, end)]
        weights = self_attention(net, [START, *here[:-1]])
        assert weights is not None
        # the columns are a start and all tokens but the last; row t is what was looked at when column t had been read
        behind = behind_a_start(landmarks, first, first + len(here) - 1)
        yield Reading(weights, behind, visible_to(settings, len(here)))


def visible_to(settings: LanguageRnnSettings | LanguageTransformerSettings, tokens: int) -> NDArray[np.bool_]:
    """Which of the columns each row may look at `[T, T]`; a recurrent net looks at earlier states, not at its own."""
    back = np.arange(tokens)[:, None] - np.arange(tokens)
    if isinstance(settings, LanguageTransformerSettings):
        return back >= 0
    return (back > 0) & (back <= (settings.window or tokens))
