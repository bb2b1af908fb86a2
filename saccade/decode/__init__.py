"""Finding outputs: greedy, beam and sampling, over any decoder."""

from saccade.decode.beam import beam_search
from saccade.decode.rules import Hypothesis, coverage_penalty, length_penalty
from saccade.decode.single import draw, greedy_search, sample
from saccade.decode.trace import UNTRACED, Branch, Trace

__all__ = [
    "UNTRACED",
    "Branch",
    "Hypothesis",
    "Trace",
    "beam_search",
    "coverage_penalty",
    "draw",
    "greedy_search",
    "length_penalty",
    "sample",
]
