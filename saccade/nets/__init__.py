"""The parts that models are made of: encoders, decoders, and the contract between a decoder and its users."""

from saccade.nets._kernels.cross_entropy import Losses, projected_cross_entropy
from saccade.nets._kernels.turing_step import HeadParameters, HeadSizes, move_heads
from saccade.nets.context import (
    AttentionContext,
    Context,
    FirstContext,
    GatedContext,
    LastContext,
    MeanContext,
    NoContext,
    SumContext,
    make_context,
)
from saccade.nets.convolution import output_size
from saccade.nets.ctc import best_path, occupancy
from saccade.nets.decoder import Copying, Decoder, DecoderOutput, Encoded, Searchable, Step, repeat_rows
from saccade.nets.dropout import Dropout
from saccade.nets.efficientnet import GRIDS, EfficientNetLite0, Level
from saccade.nets.eval_mode import evaluating
from saccade.nets.from_settings import (
    layer_shape,
    make_embedding,
    make_rnn_decoder,
    make_transformer_decoder,
    make_transformer_encoder,
)
from saccade.nets.glimpses import GlimpseSensor, RecurrentAttention, RecurrentAttentionOutput, glimpse_loss
from saccade.nets.grid import GridEncoder
from saccade.nets.language import LanguageNet, make_language_net, make_reader, previous_of
from saccade.nets.line_encoder import LineEncoder
from saccade.nets.losses import target_loss
from saccade.nets.memn2n import MemN2N, MemN2NOutput, position_weights
from saccade.nets.pointer import PointerDecoder, PointerState, SequenceEncoder, SetEncoder
from saccade.nets.pointer_generator import PointerGenerator, copy_attention, coverage_loss, known_ids
from saccade.nets.rnn import RnnDecoder, RnnEncoder, RnnState
from saccade.nets.small_cnn import SmallCnn, small_cnn_side
from saccade.nets.transformer import LayerShape, TransformerDecoder, TransformerEncoder, TransformerState
from saccade.nets.turing import ControllerKind, MachineState, MemoryInit, TuringMachine

__all__ = [
    "GRIDS",
    "AttentionContext",
    "Context",
    "ControllerKind",
    "Copying",
    "Decoder",
    "DecoderOutput",
    "Dropout",
    "EfficientNetLite0",
    "Encoded",
    "FirstContext",
    "GatedContext",
    "GlimpseSensor",
    "GridEncoder",
    "HeadParameters",
    "HeadSizes",
    "LanguageNet",
    "LastContext",
    "LayerShape",
    "Level",
    "LineEncoder",
    "Losses",
    "MachineState",
    "MeanContext",
    "MemN2N",
    "MemN2NOutput",
    "MemoryInit",
    "NoContext",
    "PointerDecoder",
    "PointerGenerator",
    "PointerState",
    "RecurrentAttention",
    "RecurrentAttentionOutput",
    "RnnDecoder",
    "RnnEncoder",
    "RnnState",
    "Searchable",
    "SequenceEncoder",
    "SetEncoder",
    "SmallCnn",
    "Step",
    "SumContext",
    "TransformerDecoder",
    "TransformerEncoder",
    "TransformerState",
    "TuringMachine",
    "best_path",
    "copy_attention",
    "coverage_loss",
    "evaluating",
    "glimpse_loss",
    "known_ids",
    "layer_shape",
    "make_context",
    "make_embedding",
    "make_language_net",
    "make_reader",
    "make_rnn_decoder",
    "make_transformer_decoder",
    "make_transformer_encoder",
    "move_heads",
    "occupancy",
    "output_size",
    "position_weights",
    "previous_of",
    "projected_cross_entropy",
    "repeat_rows",
    "small_cnn_side",
    "target_loss",
]
