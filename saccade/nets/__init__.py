"""The parts that models are made of: encoders, decoders, and the contract between a decoder and its users."""

from saccade.nets.context import AttentionContext, Context, NoContext, SumContext, make_context
from saccade.nets.decoder import Decoder, Encoded, Forced, Step
from saccade.nets.rnn import RnnDecoder, RnnEncoder, RnnState
from saccade.nets.transformer import LayerShape, TransformerDecoder, TransformerEncoder, TransformerState

__all__ = [
    "AttentionContext",
    "Context",
    "Decoder",
    "Encoded",
    "Forced",
    "LayerShape",
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
]
