"""The parts that models are made of: encoders, decoders, and the contract between a decoder and its users."""

from saccade.nets._kernels.cross_entropy import Losses, projected_cross_entropy
from saccade.nets.context import (
    AttentionContext,
    Context,
    GatedContext,
    MeanContext,
    NoContext,
    SumContext,
    make_context,
)
from saccade.nets.convolution import output_size
from saccade.nets.ctc import best_path, occupancy
from saccade.nets.decoder import Decoder, Encoded, Forced, Step, spread
from saccade.nets.dropout import Dropout
from saccade.nets.eye import GRIDS, Eye, Level
from saccade.nets.glimpses import Glimpsed, GlimpseSensor, RecurrentAttention, glimpse_loss
from saccade.nets.grid import GridEncoder
from saccade.nets.line_encoder import LineEncoder
from saccade.nets.rnn import RnnDecoder, RnnEncoder, RnnState
from saccade.nets.small_cnn import SmallCnn, small_cnn_side
from saccade.nets.transformer import LayerShape, TransformerDecoder, TransformerEncoder, TransformerState

__all__ = [
    "GRIDS",
    "AttentionContext",
    "Context",
    "Decoder",
    "Dropout",
    "Encoded",
    "Eye",
    "Forced",
    "GatedContext",
    "GlimpseSensor",
    "Glimpsed",
    "GridEncoder",
    "LayerShape",
    "Level",
    "LineEncoder",
    "Losses",
    "MeanContext",
    "NoContext",
    "RecurrentAttention",
    "RnnDecoder",
    "RnnEncoder",
    "RnnState",
    "SmallCnn",
    "Step",
    "SumContext",
    "TransformerDecoder",
    "TransformerEncoder",
    "TransformerState",
    "best_path",
    "glimpse_loss",
    "make_context",
    "occupancy",
    "output_size",
    "projected_cross_entropy",
    "small_cnn_side",
    "spread",
]
