"""The attention maps of a machine with a memory."""

from saccade.look import AttentionMap
from saccade.tasks.algorithms.trace import Trace


def map_of_trace(trace: Trace) -> AttentionMap:
    """Where each head was, step by step: the heads that read first, then those that write."""
    steps = [f"step {step + 1}" for step in range(trace.weights.shape[1])]
    locations = [str(location) for location in range(trace.weights.shape[2])]
    return AttentionMap(steps, locations, trace.weights[None], "memory")
