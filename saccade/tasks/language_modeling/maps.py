"""The attention maps of language models."""

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.tasks.language_modeling.result import Generated, ScoredText
from saccade.text import SPECIAL, START


def maps_of(found: Generated | ScoredText, *, looks: bool, name: str = "") -> list[AttentionMap]:
    """What each token looked at when it was written: a start, and the tokens before it. None if the net never looks.

    Where the text was longer than the context, these are the last tokens, and the one before each of them.
    """
    if not looks:
        return []
    if found.attention is None:
        raise InputError("the text has no attention; ask for it with attention=True")
    tokens = found.tokens if isinstance(found, ScoredText) else [*found.prompt_tokens, *found.tokens]
    size = found.attention.shape[2]
    read = [SPECIAL[START], *tokens[:-1]]
    return [AttentionMap(tokens[-size:], read[-size:], found.attention, "decoder", name)]
