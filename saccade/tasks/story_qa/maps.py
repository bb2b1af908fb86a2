"""The attention maps of answers."""

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.tasks.story_qa.result import Answer


def map_of_answer(answer: Answer, *, name: str = "") -> AttentionMap:
    """What each hop looked at, among the sentences of the story."""
    weights = answer.attention
    if weights is None:
        raise InputError("the answer has no attention; ask with attention=True")
    if weights.min() < 0 or weights.max() > 1 + 1e-3:
        raise InputError("this model has no softmax yet, and so no weights to draw; train it beyond its linear start")
    hops = [f"hop {hop + 1}" for hop in range(weights.shape[2])]
    return AttentionMap(hops, answer.sentences, weights, "memory", name)
