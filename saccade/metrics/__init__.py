"""How good outputs are."""

from saccade.metrics.text import LengthScores, Score, score_by_length, score_translations

__all__ = ["LengthScores", "Score", "score_by_length", "score_translations"]
