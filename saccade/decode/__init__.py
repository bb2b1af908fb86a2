"""Finding outputs: greedy, beam and sampling, over any decoder."""

from saccade.decode.beam import beam_search
from saccade.decode.rules import Hypothesis, coverage_penalty, length_penalty
from saccade.decode.search import Search, SearchOptions, generate, read_search, uniforms_of
from saccade.decode.single import Watch, draw, greedy_search, sample
from saccade.decode.trace import NO_TRACE, Branch, Trace, TreeNode

__all__ = [
    "NO_TRACE",
    "Branch",
    "Hypothesis",
    "Search",
    "SearchOptions",
    "Trace",
    "TreeNode",
    "Watch",
    "beam_search",
    "coverage_penalty",
    "draw",
    "generate",
    "greedy_search",
    "length_penalty",
    "read_search",
    "sample",
    "uniforms_of",
]
