"""Finding outputs: greedy, beam and sampling, over any decoder."""

from saccade.decode.beam import beam_search
from saccade.decode.rules import Hypothesis, coverage_penalty, length_penalty
from saccade.decode.single import draw, greedy_search, sample

__all__ = ["Hypothesis", "beam_search", "coverage_penalty", "draw", "greedy_search", "length_penalty", "sample"]
