"""Every module, small, as a function from tensors to one tensor, for what torch's users do with modules."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from saccade.attention import (
    SCORES,
    WEIGHTINGS,
    Attention,
    Learned,
    Monotonic,
    MultiHead,
    Rotary,
    ScaledDot,
    SelfAttention2d,
    Sinusoidal,
    make_score,
    make_weighting,
)
from saccade.nets import (
    Dropout,
    EfficientNetLite0,
    GridEncoder,
    LayerShape,
    LineEncoder,
    MemN2N,
    PointerDecoder,
    RecurrentAttention,
    SequenceEncoder,
    SetEncoder,
    SmallCnn,
    TuringMachine,
)
from tests.nets.language_models import SIZE, small_decoder
from tests.nets.makers import SOURCE_SIZE, TARGET_SIZE, small_net

BATCH, OTHER_BATCH = 3, 5


class Case(NamedTuple):
    """A module, how it is called, and which of its inputs have a batch, and a length that may change."""

    module: nn.Module
    call: Callable[..., Tensor]  # of the module and the inputs
    inputs: Callable[[int], tuple[Tensor, ...]]  # for a batch of that size
    lengths: tuple[int | None, ...] = ()  # of each input, the dimension of its length, if it may be open when exported


class Wrapped(nn.Module):
    """The module as one from tensors to a tensor."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.module, self._call = case.module, case.call

    def forward(self, *inputs: Tensor) -> Tensor:
        return self._call(self.module, *inputs)


def _context(module: nn.Module, *inputs: Tensor) -> Tensor:
    return module(*inputs).context


def _call(module: nn.Module, *inputs: Tensor) -> Tensor:
    return module(*inputs)


def _items(*sizes: tuple[int, ...]) -> Callable[[int], tuple[Tensor, ...]]:
    """Random tensors `[batch, *size]`."""

    def make(batch: int) -> tuple[Tensor, ...]:
        torch.manual_seed(batch)
        return tuple(torch.randn(batch, *size) for size in sizes)

    return make


def _tokens(batch: int) -> tuple[Tensor, ...]:
    """Source, its lengths, and the previous tokens of a target."""
    torch.manual_seed(batch)
    source = torch.randint(4, SOURCE_SIZE, (batch, 7))
    lengths = torch.arange(batch) % 4 + 4
    return source, lengths, torch.randint(4, TARGET_SIZE, (batch, 6))


def _translate(net: Any, source: Tensor, lengths: Tensor, previous: Tensor) -> Tensor:
    return net.decoder.output(net.decoder(net.encode(source, lengths), previous).features)


def _previous(batch: int) -> tuple[Tensor, ...]:
    torch.manual_seed(batch)
    return (torch.randint(4, SIZE, (batch, 6)),)


def _write(decoder: Any, previous: Tensor) -> Tensor:
    return decoder.output(decoder(None, previous).features)


def _numbers(batch: int) -> tuple[Tensor, ...]:
    torch.manual_seed(batch)
    return torch.randn(batch, 6, 2), torch.arange(batch) % 3 + 4


def _states(module: nn.Module, *inputs: Tensor) -> Tensor:
    return module(*inputs).states


class _Pointer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = SequenceEncoder(2, 10, layers=2, dropout=0.0)
        self.decoder = PointerDecoder(10, score=make_score("additive", 10, 10), mask_visited=False, dropout=0.0)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        previous = torch.full((numbers.shape[0], 2), 4, device=numbers.device)
        scores = self.decoder(self.encoder(numbers, lengths), previous)
        return scores.masked_fill(scores == -torch.inf, 0.0)


def _story(batch: int) -> tuple[Tensor, ...]:
    torch.manual_seed(batch)
    sentences = torch.randint(1, 12, (8, 5))
    sentences[0] = 0
    return sentences, torch.randint(1, 8, (batch, 4)), torch.randint(1, 8, (batch,))


def _answer(module: nn.Module, *inputs: Tensor) -> Tensor:
    return module(*inputs).logits[:, 1:]


def _shape(positions: Any) -> LayerShape:
    return LayerShape(12, 2, 7, "pre", positions, "scaled-dot", "relu", 0.0, 0.0)


def make_cases() -> dict[str, Case]:
    """By name; made anew for each test, with the same weights."""
    torch.manual_seed(1)
    pair, length = _items((4, 8), (5, 8)), (1, 1)
    cases = {
        f"Attention({name})": Case(Attention(make_score(name, 8, 8)), _context, pair, (None, None))
        if name in _STEPWISE
        else Case(Attention(make_score(name, 8, 8)), _context, pair, length)
        for name in SCORES
    }
    cases |= {
        f"Attention({name})": Case(Attention(ScaledDot(), make_weighting(name, 8)), _context, pair, (None, 1))
        for name in WEIGHTINGS
        if name not in {"soft", "monotonic"}
    }
    # in training, where it has a gradient, and without noise, so that it is a function
    cases["Attention(monotonic)"] = Case(Attention(ScaledDot(), Monotonic(noise=0.0)), _context, pair, (None, None))
    cases |= {
        "MultiHead": Case(MultiHead(12, 3), _context, _items((4, 12), (5, 12)), length),
        "MultiHead(additive)": Case(
            MultiHead(12, 3, score=make_score("additive", 4, 4)), _context, _items((4, 12), (5, 12)), length
        ),
        "MultiHead(rotary)": Case(MultiHead(12, 3, rotary=Rotary(4)), _context, _items((5, 12)), (1,)),
        "SelfAttention2d": Case(SelfAttention2d(16), _context, _items((16, 4, 5)), (2,)),
        "Sinusoidal": Case(Sinusoidal(8), _call, _items((5, 8)), (1,)),
        "Learned": Case(Learned(8, 100), _call, _items((5, 8)), (1,)),
        "Rotary": Case(Rotary(8), _call, _items((5, 8)), (1,)),
        "Dropout": Case(Dropout(0.3), _call, _items((5, 8)), (1,)),
        "RnnEncoder + RnnDecoder": Case(small_net("rnn additive", sharpness=1.0), _translate, _tokens),
        "RnnDecoder(input feeding)": Case(small_net("rnn fed", sharpness=1.0), _translate, _tokens),
        "RnnDecoder(LSTM)": Case(small_net("rnn lstm", sharpness=1.0), _translate, _tokens),
        "RnnDecoder(Luong)": Case(small_net("rnn soft luong", sharpness=1.0), _translate, _tokens),
        "TransformerEncoder + Decoder": Case(
            small_net("transformer pre sinusoidal", sharpness=1.0), _translate, _tokens, (1, None, 1)
        ),
        "Transformer(post, rotary)": Case(
            small_net("transformer post rotary", sharpness=1.0), _translate, _tokens, (1, None, 1)
        ),
        "TransformerDecoder(no source)": Case(
            small_decoder("transformer pre learned gelu", sharpness=1.0).requires_grad_(), _write, _previous, (1,)
        ),
        "RnnDecoder(own past)": Case(small_decoder("past additive", sharpness=1.0).requires_grad_(), _write, _previous),
        "GridEncoder": Case(GridEncoder(6, 8, side=3, finals=1, dropout=0.0), _states, _items((9, 6))),
        "SmallCnn": Case(SmallCnn([4, 8], attend_after=[2]), _call, _items((3, 16, 16))),
        "EfficientNetLite0": Case(EfficientNetLite0(), _call, _items((3, 32, 32))),
        "LineEncoder": Case(LineEncoder(10, height=8, dropout=0.0), _states, _items((1, 8, 24))),
        "RecurrentAttention": Case(
            RecurrentAttention(classes=4, glimpses=3, patch_size=4, scales=2, dim=12, location_std=0.1),
            _answer,
            _items((1, 12, 12)),
        ),
        "MemN2N": Case(MemN2N(words=12, dim=6, hops=2, memory_size=6), _answer, _story),
        "SequenceEncoder + PointerDecoder": Case(_Pointer(), _call, _numbers),
        "SetEncoder": Case(SetEncoder(2, _shape("none"), layers=2), _states, _numbers, (1, None)),
        "TuringMachine": Case(
            TuringMachine(3, 2, locations=6, width=5, dim=8), lambda module, x: module(x)[0], _items((4, 3))
        ),
        "TuringMachine(LSTM, clipped)": Case(
            TuringMachine(3, 2, locations=6, width=5, dim=8, controller="lstm", step_clip=10.0),
            lambda module, x: module(x)[0],
            _items((4, 3)),
        ),
    }
    for name, case in cases.items():
        case.module.train(name in _LEARNS)
    return cases


_STEPWISE = {"coverage", "location-aware", "location-recurrent"}
_LEARNS = {"Attention(monotonic)"}  # those that are tried in training
NAMES = list(make_cases())


def make_case(name: str) -> tuple[Wrapped, tuple[Tensor, ...], Case]:
    """The wrapped module, inputs for it, and the case itself."""
    case = make_cases()[name]
    return Wrapped(case), case.inputs(BATCH), case
