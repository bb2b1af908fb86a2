"""The attention mechanism itself, on torch alone.

    score      how well a query fits a key         SCORES
    weighting  how scores become weights           WEIGHTINGS
    attention  score + weighting -> context        attend, Attention, MultiHead, SelfAttention2d
    addressing weights from where it looked last   address: the heads of a Neural Turing Machine

Shapes are `[batch, items, dim]`, in the order query, key, value. Masks are boolean, True means "may look". A query that
may look nowhere gets zeros. Nothing is kept between calls: what a mechanism remembers goes in and comes out. Weights
are returned when they are asked for.
"""

from saccade.attention.addressing import Addressing, address, content_weighting, interpolate, sharpen, shift
from saccade.attention.attention import Attention
from saccade.attention.functional import attend, attention_path, recall
from saccade.attention.masks import causal_mask, padding_mask, window_mask
from saccade.attention.memory import AttentionOutput, Memory, State, remember
from saccade.attention.multihead import MultiHead
from saccade.attention.positions import Learned, Rotary, Sinusoidal, sinusoids
from saccade.attention.scores import QUERY_SCORES, SCORES, make_score
from saccade.attention.scores.additive import Additive
from saccade.attention.scores.cosine import Cosine
from saccade.attention.scores.coverage import Coverage
from saccade.attention.scores.dot import Dot, ScaledDot
from saccade.attention.scores.general import General
from saccade.attention.scores.location import Location
from saccade.attention.scores.location_aware import LocationAware
from saccade.attention.scores.location_recurrent import LocationRecurrent
from saccade.attention.scores.mix import Mix
from saccade.attention.scores.perceptron import Perceptron
from saccade.attention.scores.score import DotProductScore, Score, StatefulScore
from saccade.attention.scores.static import Static
from saccade.attention.self_attention_2d import SelfAttention2d
from saccade.attention.weightings import WEIGHTINGS, make_weighting
from saccade.attention.weightings.choice import Choice, moving_baseline
from saccade.attention.weightings.hard import Hard
from saccade.attention.weightings.local import LocalMonotonic, LocalPredictive
from saccade.attention.weightings.monotonic import Monotonic
from saccade.attention.weightings.soft import Soft
from saccade.attention.weightings.sparse import Sparse, sparsemax
from saccade.attention.weightings.weighting import Weighting, WeightingOutput, WindowedSoftmax
from saccade.runtime.kernels.additive import additive_backend

__all__ = [
    "QUERY_SCORES",
    "SCORES",
    "WEIGHTINGS",
    "Additive",
    "Addressing",
    "Attention",
    "AttentionOutput",
    "Choice",
    "Cosine",
    "Coverage",
    "Dot",
    "DotProductScore",
    "General",
    "Hard",
    "Learned",
    "LocalMonotonic",
    "LocalPredictive",
    "Location",
    "LocationAware",
    "LocationRecurrent",
    "Memory",
    "Mix",
    "Monotonic",
    "MultiHead",
    "Perceptron",
    "Rotary",
    "ScaledDot",
    "Score",
    "SelfAttention2d",
    "Sinusoidal",
    "Soft",
    "Sparse",
    "State",
    "StatefulScore",
    "Static",
    "Weighting",
    "WeightingOutput",
    "WindowedSoftmax",
    "additive_backend",
    "address",
    "attend",
    "attention_path",
    "causal_mask",
    "content_weighting",
    "interpolate",
    "make_score",
    "make_weighting",
    "moving_baseline",
    "padding_mask",
    "recall",
    "remember",
    "sharpen",
    "shift",
    "sinusoids",
    "sparsemax",
    "window_mask",
]
