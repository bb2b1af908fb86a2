"""The attention maps of a machine with a memory."""

from saccade.base.errors import InputError
from saccade.look import AttentionMap
from saccade.tasks.algorithms.trace import Array


def map_of_heads(attention: Array | None) -> AttentionMap:
    """Where each head `[1, H, T, N]` was, step by step: the heads that read first, then those that write."""
    if attention is None:
        raise InputError("the output has no attention; run with attention=True a machine that has a memory")
    _, _, steps, locations = attention.shape
    rows = [f"step {step + 1}" for step in range(steps)]
    return AttentionMap(rows, [str(location) for location in range(locations)], attention, "memory")
