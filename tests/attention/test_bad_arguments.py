"""Each message names the argument, what was found, and what was wanted."""

import math
import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from saccade.attention import (
    Additive,
    Attention,
    Cosine,
    Coverage,
    Dot,
    General,
    Hard,
    Learned,
    LocalMonotonic,
    LocalPredictive,
    Location,
    LocationAware,
    Mix,
    Monotonic,
    MultiHead,
    Rotary,
    SelfAttention2d,
    Sinusoidal,
    Soft,
    State,
    attend,
    attention_path,
    causal_mask,
    make_score,
    make_weighting,
    moving_baseline,
    padding_mask,
    recall,
    remember,
    sparsemax,
    window_mask,
)


def ones(*shape: int) -> Tensor:
    return torch.ones(shape)


def look(query: Tensor, key: Tensor, value: Tensor | None = None, **settings: Tensor) -> object:
    return attend(query, key, value, score=Dot(), **settings)  # pyright: ignore[reportArgumentType]


Q, K = ones(2, 3, 4), ones(2, 5, 4)

CASES: dict[str, tuple[Callable[[], object], str]] = {
    "key of another size": (lambda: look(Q, ones(2, 5, 6)), "key: found size 6 in shape [2, 5, 6], wanted 4"),
    "key of another batch": (lambda: look(Q, ones(3, 5, 4)), "key: found shape [3, 5, 4], wanted [2, items, dim]"),
    "query without a length": (lambda: look(ones(4), K), "query: found shape [4], wanted [batch, items, dim]"),
    "too few values": (lambda: look(Q, K, ones(2, 4, 4)), "value: found 4 items in shape [2, 4, 4], wanted 5"),
    "a float mask": (lambda: look(Q, K, mask=ones(3, 5)), "mask: found dtype torch.float32, wanted torch.bool"),
    "an integer mask": (lambda: look(Q, K, mask=ones(3, 5).long()), "mask: found dtype torch.int64, wanted torch.bool"),
    "a mask of another shape": (
        lambda: look(Q, K, mask=ones(3, 4).bool()),
        "mask: found shape [3, 4], wanted one that broadcasts to [2, 3, 5]",
    ),
    "a mask of keys without its middle": (lambda: look(Q, K, mask=ones(2, 5).bool()), "goes in as mask[:, None, :]"),
    "a memory's mask": (
        lambda: remember(K, score=Dot(), mask=ones(2, 5, 5).bool()),
        "mask: found shape [2, 5, 5], wanted one that broadcasts to [2, 1, 5]",
    ),
    "dropout of 1": (lambda: attend(Q, K, score=Dot(), dropout=1.0), "dropout: found 1.0, wanted 0 <= dropout < 1"),
    "dropout of a layer": (lambda: Attention(Dot(), dropout=-0.1), "dropout: found -0.1"),
    "general query": (lambda: General(3, 4)(Q, K), "query: found shape [2, 3, 4], wanted [..., items, 3]"),
    "general key": (lambda: General(4, 3)(Q, K), "key: found shape [2, 5, 4], wanted [..., items, 3]"),
    "dot sizes": (lambda: Dot()(Q, ones(2, 5, 6)), "key: found size 6 in shape [2, 5, 6], wanted 4"),
    "cosine sizes": (lambda: Cosine()(Q, ones(2, 5, 6)), "key: found size 6 in shape [2, 5, 6], wanted 4"),
    "additive query": (lambda: Additive(3, 4)(Q, K), "query: found shape [2, 3, 4], wanted [..., items, 3]"),
    "additive key": (lambda: Additive(4, 3)(Q, K), "key: found shape [2, 5, 4], wanted [..., items, 3]"),
    "additive without a dim": (lambda: Additive(4, 4, 0), "dim: found 0, wanted at least 1"),
    "location query": (lambda: Location(3, 9)(Q, K), "query: found shape [2, 3, 4], wanted [..., items, 3]"),
    "location too short": (lambda: Location(4, 3)(Q, K), "key: found 5 keys, wanted at most 3"),
    "even width": (lambda: LocationAware(4, 4, width=8), "width: found 8, wanted an odd number"),
    "a mix that remembers": (lambda: Mix(Coverage(4, 4), Location(4, 9)), "content: found Coverage, wanted a score"),
    "window mask of 0": (lambda: window_mask(3, window=0), "window: found 0, wanted at least 1"),
    "local-m window of 0": (lambda: LocalMonotonic(0), "window: found 0, wanted at least 1"),
    "local-p window of 0": (lambda: LocalPredictive(4, 0), "window: found 0, wanted at least 1"),
    "local-p window of nan": (lambda: LocalPredictive(4, math.nan), "window: found nan, wanted at least 1"),
    "local-p query": (
        lambda: attend(Q, K, score=Dot(), weighting=LocalPredictive(3, 2)),
        "query: found shape [2, 3, 4], wanted [..., items, 3]",
    ),
    "estimator": (lambda: Hard("gumbel"), "estimator: found 'gumbel', wanted one of"),  # pyright: ignore[reportArgumentType]
    "noise": (lambda: Monotonic(noise=-1), "noise: found -1, wanted 0 or more"),
    "corner": (lambda: causal_mask(2, 3, corner="left"), "corner: found 'left', wanted one of"),  # pyright: ignore[reportArgumentType]
    "lengths": (lambda: padding_mask(ones(2, 3).long()), "lengths: found shape [2, 3] of torch.int64, wanted [batch]"),
    "float lengths": (lambda: padding_mask(ones(2)), "lengths: found shape [2] of torch.float32"),
    "lengths past the size": (lambda: padding_mask(torch.tensor([3, 9]), size=5), "lengths: found a length of 9"),
    "heads": (lambda: MultiHead(10, 3), "dim: found 10, wanted a multiple of heads=3"),
    "no heads": (lambda: MultiHead(10, 0), "heads: found 0, wanted at least 1"),
    "rotary of another size": (lambda: MultiHead(8, 2, rotary=Rotary(8)), "rotary: found dim 8, wanted 4"),
    "multi-head query": (lambda: MultiHead(6, 2)(Q), "key: found shape [2, 3, 4], wanted [..., items, 6]"),
    "multi-head mask": (lambda: MultiHead(4, 2)(Q, mask=ones(3, 3)), "mask: found dtype torch.float32"),
    "feature map": (lambda: SelfAttention2d(8)(ones(2, 4, 3, 3)), "x: found shape [2, 4, 3, 3], wanted [batch, 8,"),
    "odd sinusoids": (lambda: Sinusoidal(5), "dim: found 5, wanted an even number"),
    "sinusoids of another size": (lambda: Sinusoidal(6)(Q), "x: found shape [2, 3, 4], wanted [..., items, 6]"),
    "combine": (lambda: Sinusoidal(4, combine="sum"), "combine: found 'sum', wanted one of"),  # pyright: ignore[reportArgumentType]
    "past the learned positions": (lambda: Learned(4, 2)(Q), "x: found 3 positions, wanted at most 2"),
    "a score by name": (lambda: Attention("dot"), "score: found 'dot', wanted a Score such as ScaledDot()"),  # pyright: ignore[reportArgumentType]
    "a score's class": (lambda: Attention(Dot), "score: found the class Dot, wanted a Score such as"),  # pyright: ignore[reportArgumentType]
    "parts in the wrong order": (lambda: Attention(Soft(), Dot()), "score: found Soft(), wanted a Score"),  # pyright: ignore[reportArgumentType]
    "a score by name, in the function": (lambda: attend(Q, K, score="dot"), "score: found 'dot'"),  # pyright: ignore[reportArgumentType]
    "a score by name, in heads": (lambda: MultiHead(4, 2, score="dot"), "score: found 'dot'"),  # pyright: ignore[reportArgumentType]
    "a score of another size, in heads": (
        lambda: MultiHead(8, 2, score=Additive(8, 8)),
        "score: found one that does not take vectors of 4, the size of a head",
    ),
    "a score by name, for maps": (lambda: SelfAttention2d(8, score="dot"), "score: found 'dot'"),  # pyright: ignore[reportArgumentType]
    "a path by name": (lambda: attention_path("dot", shape=(1, 2, 3)), "score: found 'dot'"),  # pyright: ignore[reportArgumentType]
    "a mix in the wrong order": (lambda: Mix(Location(4, 9), Dot()), "location: found Dot(), wanted a Location"),  # pyright: ignore[reportArgumentType]
    "lists": (lambda: look([[1.0]], K), "query: found a list, wanted a torch.Tensor"),  # pyright: ignore[reportArgumentType]
    "a list as a mask": (lambda: look(Q, K, mask=[True]), "mask: found a list, wanted a torch.Tensor"),  # pyright: ignore[reportArgumentType]
    "a list, in heads": (lambda: MultiHead(4, 2)(Q, mask=[True]), "mask: found a list, wanted a torch.Tensor"),
    "a list of lengths": (lambda: padding_mask([3, 2]), "lengths: found a list, wanted a torch.Tensor"),  # pyright: ignore[reportArgumentType]
    "negative lengths": (
        lambda: padding_mask(torch.tensor([3, -2])),
        "lengths: found a length of -2, wanted 0 or more",
    ),
    "keys for a memory": (lambda: recall(Q, K, score=Dot()), "wanted a Memory such as what remember("),  # pyright: ignore[reportArgumentType]
    "whole numbers": (lambda: look(Q.long(), K), "query: found dtype torch.int64, wanted floating point numbers"),
    "two dtypes": (lambda: look(Q, K.double()), "key: found torch.float64 on cpu, wanted torch.float32 on cpu"),
    "two devices": (
        lambda: look(Q, K, K.to("meta")),
        "value: found torch.float32 on meta, wanted torch.float32 on cpu",
    ),
    "values of another batch": (
        lambda: remember(K, ones(3, 5, 4), score=Dot()),
        "value: found shape [3, 5, 4], wanted [2, items, dim] to go with the key of shape [2, 5, 4]",
    ),
    "a memory of another batch": (
        lambda: remember(K, score=Dot(), before=remember(ones(3, 5, 4), score=Dot())),
        "key: found shape [2, 5, 4], wanted [3, items, dim] to go with the memory before",
    ),
    "a state of another memory": (
        lambda: attend(Q, K, score=Coverage(4, 4), state=State(score=ones(2, 9))),
        "state: found weights over 9 keys, wanted at most 5",
    ),
    "unbatched, in heads": (lambda: MultiHead(4, 2)(ones(3, 4)), "key: found shape [3, 4], wanted [batch, items, 4]"),
    "half a head": (lambda: MultiHead(8, 2.0), "heads: found 2.0, wanted a whole number"),  # pyright: ignore[reportArgumentType]
    "half a window": (lambda: LocalMonotonic(1.5), "window: found 1.5, wanted a whole number"),  # pyright: ignore[reportArgumentType]
    "rotary by flag": (lambda: MultiHead(8, 2, rotary=True), "rotary: found True, wanted a Rotary such as Rotary(4)"),  # pyright: ignore[reportArgumentType]
    "rotary base": (lambda: Rotary(4, base=0), "base: found 0, wanted more than 1"),
    "a start before the beginning": (lambda: Learned(4, 9)(Q, start=-1), "start: found -1, wanted at least 0"),
    "positions of whole numbers": (lambda: Sinusoidal(4)(Q.long()), "x: found dtype torch.int64"),
    "a negative size": (lambda: causal_mask(-3), "queries: found -3, wanted at least 0"),
    "decay": (lambda: moving_baseline(0.0, ones(2), decay=2), "decay: found 2, wanted 0 <= decay <= 1"),
    "a float mask for sparsemax": (lambda: sparsemax(ones(3), ones(3)), "mask: found dtype torch.float32"),
    "a score's name": (lambda: make_score("bilinear", 4, 4), "score: found 'bilinear', wanted one of cosine, additive"),
    "a weighting's name": (lambda: make_weighting("top-k", 4), "weighting: found 'top-k', wanted one of soft, hard"),
}


@pytest.mark.parametrize("name", CASES)
def test_message(name: str) -> None:
    call, message = CASES[name]
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_nothing_to_look_at_and_nobody_to_look() -> None:
    """Empty sequences are no error."""
    assert torch.equal(attend(Q, K[:, :0], score=Dot()).context, torch.zeros(2, 3, 4))
    output = attend(Q[:, :0], K, score=Additive(4, 4), weighting=Monotonic(), need_weights=True)
    assert output.context.shape == (2, 0, 4)
    assert output.weights is not None
    assert output.weights.shape == (2, 0, 5)
