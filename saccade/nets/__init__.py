"""The parts that models are made of: encoders, decoders, and the contract between a decoder and its users."""

from saccade.nets._kernels.cross_entropy import Losses, projected_cross_entropy
from saccade.nets.context import AttentionContext, Context, NoContext, SumContext, make_context
from saccade.nets.decoder import Decoder, Encoded, Forced, Step, spread
from saccade.nets.dropout import Dropout
from saccade.nets.eye import GRIDS, Eye, Level
from saccade.nets.rnn import RnnDecoder, RnnEncoder, RnnState
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
    "LayerShape",
    "Level",
    "Losses",
    "NoContext",
    "RnnDecoder",
    "RnnEncoder",
    "RnnState",
    "Step",
    "SumContext",
    "TransformerDecoder",
    "TransformerEncoder",
    "TransformerState",
    "make_context",
    "projected_cross_entropy",
    "spread",
]
