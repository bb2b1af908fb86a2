"""The attention maps of answers."""

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.tasks.story_qa.result import Answer


def map_of_answer(answer: Answer, *, name: str = "") -> AttentionMap:
    """What each hop looked at, among the sentences of the story."""
    weights = answer.attention
    if weights is None:
        raise InputError("the answer has no attention; ask with attention=True")
    hops = [f"hop {hop + 1}" for hop in range(weights.shape[2])]
    return AttentionMap(hops, answer.sentences, weights, "memory", name)
