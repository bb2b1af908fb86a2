"""How good outputs are."""

from saccade.metrics.alignment_error import AlignmentScore, Gold, read_links, score_alignments
from saccade.metrics.answers import answer_words, score_answers
from saccade.metrics.bits import BitScore, score_bits
from saccade.metrics.captions import caption_words, score_captions
from saccade.metrics.edit_distance import edit_distance
from saccade.metrics.likelihood import TextScore, score_text
from saccade.metrics.orders import covered_area, same_cycle
from saccade.metrics.pointing_game import pointing_accuracy
from saccade.metrics.rouge import rouge_words, score_rouge
from saccade.metrics.translation import LengthScores, Score, score_by_length, score_translations

__all__ = [
    "AlignmentScore",
    "BitScore",
    "Gold",
    "LengthScores",
    "Score",
    "TextScore",
    "answer_words",
    "caption_words",
    "covered_area",
    "edit_distance",
    "pointing_accuracy",
    "read_links",
    "rouge_words",
    "same_cycle",
    "score_alignments",
    "score_answers",
    "score_bits",
    "score_by_length",
    "score_captions",
    "score_rouge",
    "score_text",
    "score_translations",
]
