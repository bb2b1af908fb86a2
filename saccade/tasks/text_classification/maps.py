"""The attention maps of text classifiers."""

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.tasks.text_classification.result import LabelledOutput
from saccade.text import SPECIAL, START


def maps_of(found: LabelledOutput, *, looks: bool, name: str = "") -> list[AttentionMap]:
    """First which tokens decided, then what they saw of each other. None if the net tells nothing of it.

    A token is shown without the space before it.
    """
    if not looks:
        return []
    if found.attention is None and found.self_attention is None:
        raise InputError("the text has no attention; ask for it with attention=True")
    tokens = [token.strip(" ") or token for token in found.tokens]
    maps: list[AttentionMap] = []
    if found.attention is not None:
        maps.append(AttentionMap([found.label], tokens, found.attention, "cross", name))
    if found.self_attention is not None:
        with_start = [SPECIAL[START], *tokens]
        maps.append(AttentionMap(with_start, with_start, found.self_attention, "encoder", name))
    return maps
