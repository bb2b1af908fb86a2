"""Small decoders without a source, of every kind, for tests that hold for all of them."""

from typing import Any

import torch
from torch import nn

from saccade.attention import SCORES, WEIGHTINGS
from saccade.nets import Decoder, RnnDecoder, TransformerDecoder
from saccade.nets.context import NoContext, PastContext
from saccade.nets.transformer import LayerShape

SIZE = 11  # of the vocabulary


def rnn(cell: str = "gru", *, score: str = "none", weighting: str = "soft", **options: object) -> RnnDecoder:
    window, fed, layers = options.get("window"), options.get("fed", False), options.get("layers", 1)
    context = NoContext() if score == "none" else PastContext(10, score=score, weighting=weighting, window=window)  # pyright: ignore[reportArgumentType]
    return RnnDecoder(
        nn.Embedding(SIZE, 6),
        10,
        context=context,
        cell=cell,  # pyright: ignore[reportArgumentType]
        order="luong",
        layers=layers,  # pyright: ignore[reportArgumentType]
        input_feeding=bool(fed),
        dropout=0.0,
        has_source=False,
    )


def transformer(norm: str = "pre", positions: str = "learned", activation: str = "gelu") -> TransformerDecoder:
    shape = LayerShape(12, 3, 7, norm, positions, "scaled-dot", activation, 0.0, 0.0)  # pyright: ignore[reportArgumentType]
    return TransformerDecoder(nn.Embedding(SIZE, 12), shape, layers=2, max_length=64, has_source=False)


# One for each thing that makes a difference, by name.
MAKERS = {
    **{cell: lambda cell=cell: rnn(cell, layers=2) for cell in ("elman", "gru", "lstm")},
    **{f"past {score}": lambda score=score: rnn("lstm", score=score) for score in SCORES},
    **{f"past {one}": lambda one=one: rnn(score="general", weighting=one) for one in WEIGHTINGS if one != "soft"},
    "past window": lambda: rnn(score="additive", window=2),
    "past fed": lambda: rnn(score="additive", fed=True),
    "past fed window": lambda: rnn("lstm", score="dot", fed=True, window=3, layers=2),
    **{
        f"transformer {norm} {positions} {activation}": lambda a=(norm, positions, activation): transformer(*a)
        for norm, positions, activation in (
            ("pre", "learned", "gelu"),
            ("pre", "sinusoidal", "relu"),
            ("pre", "rotary", "gelu"),
            ("post", "none", "relu"),
            ("post", "learned", "gelu"),
        )
    },
}


def small_decoder(name: str, *, seed: int = 16, sharpness: float = 3.0) -> Decoder[Any]:
    """The decoder of that name with random weights; its outputs are far from even, so that a wrong one shows."""
    torch.manual_seed(seed)
    decoder = MAKERS[name]()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.mul_(sharpness if parameter.dim() > 1 else 1.0)
    return decoder.eval().requires_grad_(requires_grad=False)
