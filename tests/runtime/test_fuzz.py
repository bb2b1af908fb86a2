"""Whatever the arguments: an answer that is torch's, or a sentence that says which of them is wrong; never a crash.

`make sanitize` runs this file for longer, and under sanitizers, which see each byte that is not the kernels' own.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.nets import Encoded, HeadSizes, fused_encoder, transformer_steps
from saccade.nets._kernels.turing_step import plain_move_heads
from saccade.nets.fused_encoder import EncoderWeights, fused_encode, gather_encoder
from saccade.nets.transformer_steps import decode_step, start_steps
from saccade.nets.transformer_weights import LayerNormWeights, LayerWeights, LinearWeights, gather
from saccade.runtime import quantized, shortlist
from saccade.runtime.kernels import additive, best, dropout
from saccade.runtime.kernels import turing_step as turing_step_kernel
from saccade.runtime.kernels.additive import torch_backward, torch_scores
from saccade.runtime.kernels.best import torch_best_tokens
from saccade.runtime.kernels.dropout import torch_drop
from saccade.runtime.native import library_for
from saccade.runtime.quantized import Int8Matrix, PackedWeight, plain_quantized_linear, quantize_rows, quantized_library
from saccade.runtime.shortlist import make_shortlist
from tests.runtime.fence import call_fenced
from tests.runtime.random_arguments import RandomArguments, Refused, answer, expect_same

CALLS = int(os.environ.get("SACCADE_FUZZ", "600"))  # of each kind
OPERATORS = torch.ops.saccade
CALLERS = additive, best, dropout, turing_step_kernel, quantized, shortlist, fused_encoder, transformer_steps


def additive_scores(rng: RandomArguments) -> None:
    n, t, s, d = (rng.size() for _ in range(4))
    arguments = rng.tensor(n, t, d, low=0.1), rng.tensor(n, d, s, low=0.1), rng.tensor(d)
    found = answer(("query", "key", "v"), OPERATORS.additive_scores, *arguments)
    expect_same(found, torch_scores(*arguments), loose=10)


def additive_backward(rng: RandomArguments) -> None:
    n, t, s, d = (rng.size() for _ in range(4))
    arguments = rng.tensor(n, t, d, low=0.1), rng.tensor(n, d, s, low=0.1), rng.tensor(n, t, s)
    found = answer(("query", "key", "grad"), OPERATORS.additive_backward, *arguments)
    expect_same(found, torch_backward(*arguments), loose=10)


def best_tokens(rng: RandomArguments) -> None:
    r, v = rng.size(), rng.one_of((1, 2, 3, 31, 32, 33, 255, 257, 600))
    logits, first = rng.tensor(r, v, dtype=torch.float32), rng.number(rng.size(most=v - 1), -1, v, 2**62)
    wanted = max(1, min(v - first, rng.size(least=1)))
    count = rng.number(wanted, 0, -1, v + 1, 2**62)
    values, tokens = answer(("logits", "count", "first"), OPERATORS.best_tokens, logits, count, first)
    wanted_values, _ = torch_best_tokens(logits, count, first=first)
    expect_same(values, wanted_values)
    assert tokens.shape == values.shape
    assert ((tokens >= first) & (tokens < logits.shape[1])).all()
    assert all(len(set(row)) == count for row in tokens.tolist())
    at_tokens = logits.float().gather(1, tokens) - logits.float().logsumexp(-1, keepdim=True)
    expect_same(values, at_tokens)


def drop(rng: RandomArguments) -> None:
    shape = [rng.size() for _ in range(rng.one_of((0, 1, 2, 3)))]
    x = rng.tensor(*shape)
    onto = rng.one_of((None, rng.tensor(*shape), rng.tensor(*shape[1:])))
    probability = rng.number(rng.one_of((0.0, 0.3, 0.5, 1 - 2**-40, 1.0)), -0.1, 1.1, float("nan"), float("inf"))
    first, second = (rng.number(rng.one_of((0, 7, 2**32 - 1)), -1, 2**32, 2**63 - 1) for _ in range(2))
    arguments = x, onto, probability, first, second
    found = answer(("x", "onto", "probability", "first", "second"), OPERATORS.drop, *arguments)
    if probability > 1 - 2**-33:  # all are dropped, whatever they were
        wanted = torch.zeros_like(x) if onto is None else onto.expand_as(x)
    else:
        wanted = torch_drop(*arguments)
    expect_same(found, wanted)


def _heads(rng: RandomArguments) -> tuple[HeadSizes, tuple[Tensor, Tensor, Tensor]]:
    batch, locations, width = rng.size(most=5), rng.size(least=1, most=17), rng.size(least=1, most=8)
    read, write, shifts = (rng.size(least=1, most=3) for _ in range(3))
    heads, numbers = read + write, (read + write) * (width + 3 + shifts) + 2 * write * width
    tensors = (
        rng.tensor(batch, locations, width),
        rng.tensor(batch, heads, locations, low=0),
        rng.tensor(batch, numbers),
    )
    limit = rng.number(rng.one_of((0.0, 0.1)), -1.0, float("nan"))
    read, write, shifts = (rng.number(count, 0, -1, count + 1, 2**40) for count in (read, write, shifts))
    return HeadSizes(width, read, write, shifts, limit), tensors


_HEADS = ("memory", "last", "raw_parameters", "read", "write", "shifts", "limit", "weights", "saved")


def turing_step(rng: RandomArguments) -> None:
    sizes, tensors = _heads(rng)
    numbers = sizes.read, sizes.write, sizes.shifts, sizes.limit
    *found, kept = answer(_HEADS, OPERATORS.turing_step, *tensors, *numbers)
    assert kept.shape == (*tensors[1].shape[:2], 4, tensors[1].shape[2])
    expect_same(found, plain_move_heads(*tensors, sizes), loose=10)


def turing_backward(rng: RandomArguments) -> None:
    sizes, tensors = _heads(rng)
    last = tensors[1]
    numbers = sizes.read, sizes.write, sizes.shifts, sizes.limit
    *results, kept = answer(_HEADS, OPERATORS.turing_step, *tensors, *numbers)
    if rng.goes_wrong():
        results[0], kept = rng.tensor(*last.shape), rng.tensor(*kept.shape)
    gradients = tuple(rng.one_of((None, rng.tensor(*one.shape))) for one in results)
    names = *_HEADS, "grad_weights", "grad_reads", "grad_memory"
    found = answer(names, OPERATORS.turing_backward, *tensors, results[0], kept, *gradients, *numbers)
    if rng.odd or not rng.right:
        return  # of results that were not these
    inputs = memory, last, raw = tuple(one.detach().clone().requires_grad_() for one in tensors)
    plain = plain_move_heads(memory, last, raw, sizes)
    used = [(one, gradient) for one, gradient in zip(plain, gradients, strict=True) if gradient is not None]
    if used:
        outputs, slopes = zip(*used, strict=True)
        wanted = torch.autograd.grad(outputs, inputs, slopes, materialize_grads=True)
        expect_same(found, wanted, loose=100)


def int8(rng: RandomArguments) -> None:
    out, size = rng.size(), rng.size()
    weight = rng.tensor(out, size, dtype=torch.float32)
    x = rng.tensor(*(rng.size(most=17) for _ in range(rng.one_of((0, 1, 2)))), size, dtype=torch.float32)
    bias = rng.one_of((None, rng.tensor(out, dtype=torch.float32)))
    matrix = answer(("weight",), Int8Matrix, weight)
    found = answer(("x", "bias"), matrix, x, bias)
    wanted = plain_quantized_linear(x, *quantize_rows(weight), bias)
    expect_same(found, wanted, loose=10)


def packed(rng: RandomArguments) -> None:
    out, size = rng.size(), rng.size()
    weight, bits = rng.tensor(out, size, dtype=torch.float32), rng.number(16, 0, -8, 12, 32)
    x, bias = rng.tensor(rng.size(), size, dtype=torch.float32), rng.tensor(out, dtype=torch.float32)
    library = quantized_library(torch.empty(1))
    if library is None:
        pytest.skip("this machine does not multiply quantized numbers faster")
    matrix = answer(("weight", "bits"), PackedWeight, weight, library, bits=bits)
    found, scales = answer(("x", "bias"), matrix.multiply, x, bias)
    assert scales.shape == x.shape[:1]
    if not rng.odd:
        allowed = 1e-4 + x.norm(dim=1)[:, None] * weight.norm(dim=1) * size**0.5 / 15_000
        assert ((found - F.linear(x, weight, bias)).abs() <= allowed).all()


def highest(rng: RandomArguments) -> None:
    out, size = rng.one_of((1, 2, 47, 49, 255, 257, 600)), rng.size(least=1)
    weight, x = rng.tensor(out, size, dtype=torch.float32), rng.tensor(rng.size(), size, dtype=torch.float32)
    bias = rng.one_of((None, rng.tensor(out, dtype=torch.float32)))
    count = rng.number(rng.size(least=1), 0, -1, -(2**40), 2**62)
    matrix = answer(("weight",), make_shortlist, weight)
    if matrix is None:
        return
    found = answer(("x", "bias", "count"), matrix.top_k, x, bias, count)
    wanted, count = F.linear(x, weight, bias), min(count, len(weight))
    expect_same(found.topk(count).values, wanted.topk(count).values)


def _matrix(rng: RandomArguments, out: int, size: int) -> LinearWeights:
    scale = 1 / max(size, 1) ** 0.5
    weight = rng.tensor(out, size, dtype=torch.float32)
    return LinearWeights(weight * scale if rng.happens(0.5) else weight, rng.tensor(out, dtype=torch.float32))


def _norm(rng: RandomArguments, dim: int) -> LayerNormWeights:
    eps = rng.one_of((1e-5, 1e-2))
    return LayerNormWeights(rng.tensor(dim, dtype=torch.float32), rng.tensor(dim, dtype=torch.float32), (dim,), eps)


def _sizes(rng: RandomArguments) -> tuple[int, int, int, int, int]:
    """Sentences, items, heads, dim and the inner size."""
    heads = rng.size(least=1, most=3)
    return rng.size(most=4), rng.size(most=17), heads, heads * rng.size(least=1, most=8), rng.size(least=1)


def steps(rng: RandomArguments) -> None:
    sentences, items, heads, dim, inner = _sizes(rng)
    copies, count = rng.size(least=1, most=3), rng.size(least=1, most=2)
    layers = tuple(
        LayerWeights(
            *(_norm(rng, dim), _matrix(rng, 3 * dim, dim), _matrix(rng, dim, dim)),
            *(_norm(rng, dim), _matrix(rng, dim, dim), _matrix(rng, dim, dim)),
            *(_norm(rng, dim), _matrix(rng, inner, dim), nn.ReLU(), _matrix(rng, dim, inner)),
        )
        for _ in range(count)
    )
    cross = _matrix(rng, 2 * count * dim, dim)
    encoded = Encoded(rng.tensor(sentences, items, dim, dtype=torch.float32), rng.mask(sentences, 1, items))
    how: dict[str, Any] = {"pre_norm": rng.happens(0.5), "scale": dim**-0.5}
    sharing = {"heads": rng.number(heads, 0, -1, heads + 1), "copies": rng.number(copies, 0, -1)}
    names = "states", "mask", "heads", "copies", "cross"
    weights = answer(("layers",), gather, layers, **how)
    plain_weights = weights._replace(addresses=None)
    state = answer(names, start_steps, weights, cross, encoded, **sharing)
    plain = start_steps(plain_weights, cross, encoded, **sharing)
    for _ in range(rng.size(least=1, most=5)):
        x = rng.tensor(sentences * copies, dim, dtype=torch.float32)
        need_weights = rng.happens(0.2)
        found, state, _ = answer(("x",), decode_step, x, state, need_weights=need_weights)
        wanted, plain, _ = decode_step(x, plain, need_weights=True)
        expect_same(found, wanted, loose=100)
        if rng.happens(0.3) and sentences:
            kept = [rng.one_of(range(sentences)) for _ in range(rng.size(least=1, most=sentences))]
            rows = torch.tensor([row * copies + rng.one_of(range(copies)) for row in kept for _ in range(copies)])
            if rng.goes_wrong():
                rows = rng.one_of((rows + 1, rows - 1, rows[1:], rows + 2**40, rows.float()))
            state, plain, sentences = answer(("rows",), state.reorder, rows), plain.reorder(rows), len(kept)


def encoder(rng: RandomArguments) -> None:
    sentences, items, heads, dim, inner = _sizes(rng)
    layers = tuple(
        EncoderWeights(
            *(_norm(rng, dim), _matrix(rng, 3 * dim, dim), _matrix(rng, dim, dim)),
            *(_norm(rng, dim), _matrix(rng, inner, dim), _matrix(rng, dim, inner)),
        )
        for _ in range(rng.size(least=1, most=2))
    )
    how: dict[str, Any] = {"pre_norm": rng.happens(0.5), "scale": dim**-0.5}
    how["heads"] = rng.number(heads, 0, -1, heads + 1, 2**40)
    x, mask = rng.tensor(sentences, items, dim, dtype=torch.float32), rng.mask(sentences, 1, items)
    names = "layers", "x", "states", "mask", "heads"
    found = answer(names, lambda: fused_encode(x, mask, gather_encoder(layers, **how)))
    if found is not None:
        there = mask.transpose(1, 2)
        expect_same(found * there, _plain_encoder(x, mask, layers, **how) * there, loose=100)


def _plain_encoder(
    x: Tensor, mask: Tensor, layers: tuple[EncoderWeights, ...], *, pre_norm: bool, scale: float, heads: int
) -> Tensor:
    """What `fused_encode` computes, in torch's operations."""
    for layer in layers:
        parts = layer.qkv(layer.self_norm(x) if pre_norm else x).unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].transpose(-1, -2) * scale  # [N, H, S, S]
        scores = scores.masked_fill(~mask[:, None], -torch.inf)
        seen = (scores.softmax(-1).masked_fill(~mask[:, None], 0) @ parts[2]).transpose(1, 2).flatten(2)
        x = x + layer.self_output(seen)
        x = x if pre_norm else layer.self_norm(x)
        x = x + layer.outer(layer.inner(layer.feed_forward_norm(x) if pre_norm else x).relu())
        x = x if pre_norm else layer.feed_forward_norm(x)
    return x


KINDS = (
    *(additive_scores, additive_backward, best_tokens, drop, turing_step, turing_backward),
    *(int8, packed, highest, steps, encoder),
)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_any_arguments(kind: Callable[[RandomArguments], None], monkeypatch: pytest.MonkeyPatch) -> None:
    if kind in (turing_step, turing_backward) and library_for(turing_step_kernel.SOURCE, torch.empty(0)) is None:
        pytest.skip("no C loops here, and saccade.nets has the same in torch's operations")
    monkeypatch.setattr(shortlist, "MIN_WEIGHTS", 0)
    monkeypatch.setattr(transformer_steps, "_INITIAL_CAPACITY", 2)
    monkeypatch.setattr(fused_encoder, "MAX_FUSED_TOKENS", 100)
    for module in CALLERS:
        monkeypatch.setattr(module, "call", call_fenced)
    answered = 0
    for seed in range(CALLS):
        rng = RandomArguments(seed)
        monkeypatch.setattr(transformer_steps, "MAX_FUSED_ROWS", rng.one_of((0, 64)))
        try:
            with torch.no_grad() if kind is not turing_backward else torch.enable_grad():
                kind(rng)
            answered += 1
        except Refused as refusal:
            if rng.right:
                raise AssertionError(f"{seed}: {rng.drawn}") from refusal
        except Exception as error:
            raise AssertionError(f"{seed}: {rng.drawn}") from error
    assert answered > CALLS / 2
