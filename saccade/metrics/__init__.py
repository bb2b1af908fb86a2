"""How good outputs are."""

from saccade.metrics.text import Score, score_translations

__all__ = ["Score", "score_translations"]
