"""How good outputs are."""

from saccade.metrics.alignment import AlignmentScore, Gold, read_links, score_alignments
from saccade.metrics.captions import caption_words, score_captions
from saccade.metrics.edits import edits
from saccade.metrics.pointing import pointing_accuracy
from saccade.metrics.text import LengthScores, Score, score_by_length, score_translations

__all__ = [
    "AlignmentScore",
    "Gold",
    "LengthScores",
    "Score",
    "caption_words",
    "edits",
    "pointing_accuracy",
    "read_links",
    "score_alignments",
    "score_by_length",
    "score_captions",
    "score_translations",
]
