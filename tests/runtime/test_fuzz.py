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
from saccade.nets.transformer_steps import LayerWeights, Matrix, Norm, gather, start_steps, step_through
from saccade.runtime import quantized, shortlist
from saccade.runtime.kernels import additive, best, dropout
from saccade.runtime.kernels import turing_step as turing_step_kernel
from saccade.runtime.kernels.additive import torch_scores, torch_slopes
from saccade.runtime.kernels.best import torch_best_tokens
from saccade.runtime.kernels.dropout import torch_drop
from saccade.runtime.native import library_for
from saccade.runtime.quantized import Int8Matrix, PackedWeight, plain_quantized_linear, quantize_rows, quantized_library
from saccade.runtime.shortlist import make_shortlist
from tests.runtime.chance import Chance, Refused, answer, expect_same
from tests.runtime.fence import call_fenced

CALLS = int(os.environ.get("SACCADE_FUZZ", "600"))  # of each kind
OPERATORS = torch.ops.saccade
CALLERS = additive, best, dropout, turing_step_kernel, quantized, shortlist, fused_encoder, transformer_steps


def additive_scores(chance: Chance) -> None:
    n, t, s, d = (chance.size() for _ in range(4))
    arguments = chance.tensor(n, t, d, low=0.1), chance.tensor(n, d, s, low=0.1), chance.tensor(d)
    found = answer(("query", "key", "v"), OPERATORS.additive_scores, *arguments)
    expect_same(found, torch_scores(*arguments), loose=10)


def additive_slopes(chance: Chance) -> None:
    n, t, s, d = (chance.size() for _ in range(4))
    arguments = chance.tensor(n, t, d, low=0.1), chance.tensor(n, d, s, low=0.1), chance.tensor(n, t, s)
    found = answer(("query", "key", "grad"), OPERATORS.additive_slopes, *arguments)
    expect_same(found, torch_slopes(*arguments), loose=10)


def best_tokens(chance: Chance) -> None:
    r, v = chance.size(), chance.one_of((1, 2, 3, 31, 32, 33, 255, 257, 600))
    logits, first = chance.tensor(r, v, dtype=torch.float32), chance.number(chance.size(most=v - 1), -1, v, 2**62)
    wanted = max(1, min(v - first, chance.size(least=1)))
    count = chance.number(wanted, 0, -1, v + 1, 2**62)
    values, tokens = answer(("logits", "count", "first"), OPERATORS.best_tokens, logits, count, first)
    wanted_values, _ = torch_best_tokens(logits, count, first=first)
    expect_same(values, wanted_values)
    assert tokens.shape == values.shape
    assert ((tokens >= first) & (tokens < logits.shape[1])).all()
    assert all(len(set(row)) == count for row in tokens.tolist())
    at_tokens = logits.float().gather(1, tokens) - logits.float().logsumexp(-1, keepdim=True)
    expect_same(values, at_tokens)


def drop(chance: Chance) -> None:
    shape = [chance.size() for _ in range(chance.one_of((0, 1, 2, 3)))]
    x = chance.tensor(*shape)
    onto = chance.one_of((None, chance.tensor(*shape), chance.tensor(*shape[1:])))
    probability = chance.number(chance.one_of((0.0, 0.3, 0.5, 1 - 2**-40, 1.0)), -0.1, 1.1, float("nan"), float("inf"))
    first, second = (chance.number(chance.one_of((0, 7, 2**32 - 1)), -1, 2**32, 2**63 - 1) for _ in range(2))
    arguments = x, onto, probability, first, second
    found = answer(("x", "onto", "probability", "first", "second"), OPERATORS.drop, *arguments)
    if probability > 1 - 2**-33:  # all are dropped, whatever they were
        wanted = torch.zeros_like(x) if onto is None else onto.expand_as(x)
    else:
        wanted = torch_drop(*arguments)
    expect_same(found, wanted)


def _heads(chance: Chance) -> tuple[HeadSizes, tuple[Tensor, Tensor, Tensor]]:
    batch, places, width = chance.size(most=5), chance.size(least=1, most=17), chance.size(least=1, most=8)
    read, write, shifts = (chance.size(least=1, most=3) for _ in range(3))
    heads, numbers = read + write, (read + write) * (width + 3 + shifts) + 2 * write * width
    tensors = (
        chance.tensor(batch, places, width),
        chance.tensor(batch, heads, places, low=0),
        chance.tensor(batch, numbers),
    )
    limit = chance.number(chance.one_of((0.0, 0.1)), -1.0, float("nan"))
    read, write, shifts = (chance.number(count, 0, -1, count + 1, 2**40) for count in (read, write, shifts))
    return HeadSizes(width, read, write, shifts, limit), tensors


_HEADS = ("memory", "last", "said", "read", "write", "shifts", "limit", "weights", "kept")


def turing_step(chance: Chance) -> None:
    sizes, tensors = _heads(chance)
    numbers = sizes.read, sizes.write, sizes.shifts, sizes.limit
    *found, kept = answer(_HEADS, OPERATORS.turing_step, *tensors, *numbers)
    assert kept.shape == (*tensors[1].shape[:2], 4, tensors[1].shape[2])
    expect_same(found, plain_move_heads(*tensors, sizes), loose=10)


def turing_backward(chance: Chance) -> None:
    sizes, tensors = _heads(chance)
    last = tensors[1]
    numbers = sizes.read, sizes.write, sizes.shifts, sizes.limit
    *results, kept = answer(_HEADS, OPERATORS.turing_step, *tensors, *numbers)
    if chance.goes_wrong():
        results[0], kept = chance.tensor(*last.shape), chance.tensor(*kept.shape)
    gradients = tuple(chance.one_of((None, chance.tensor(*one.shape))) for one in results)
    names = *_HEADS, "of_weights", "of_reads", "of_memory"
    found = answer(names, OPERATORS.turing_backward, *tensors, results[0], kept, *gradients, *numbers)
    if chance.odd or not chance.right:
        return  # of results that were not these
    inputs = memory, last, said = tuple(one.detach().clone().requires_grad_() for one in tensors)
    plain = plain_move_heads(memory, last, said, sizes)
    used = [(one, gradient) for one, gradient in zip(plain, gradients, strict=True) if gradient is not None]
    if used:
        outputs, slopes = zip(*used, strict=True)
        wanted = torch.autograd.grad(outputs, inputs, slopes, materialize_grads=True)
        expect_same(found, wanted, loose=100)


def int8(chance: Chance) -> None:
    out, size = chance.size(), chance.size()
    weight = chance.tensor(out, size, dtype=torch.float32)
    x = chance.tensor(*(chance.size(most=17) for _ in range(chance.one_of((0, 1, 2)))), size, dtype=torch.float32)
    bias = chance.one_of((None, chance.tensor(out, dtype=torch.float32)))
    matrix = answer(("weight",), Int8Matrix, weight)
    found = answer(("x", "bias"), matrix, x, bias)
    wanted = plain_quantized_linear(x, *quantize_rows(weight), bias)
    expect_same(found, wanted, loose=10)


def packed(chance: Chance) -> None:
    out, size = chance.size(), chance.size()
    weight, bits = chance.tensor(out, size, dtype=torch.float32), chance.number(16, 0, -8, 12, 32)
    x, bias = chance.tensor(chance.size(), size, dtype=torch.float32), chance.tensor(out, dtype=torch.float32)
    library = quantized_library(torch.empty(1))
    if library is None:
        pytest.skip("this machine does not multiply quantized numbers faster")
    matrix = answer(("weight", "bits"), PackedWeight, weight, library, bits=bits)
    found, scales = answer(("x", "bias"), matrix.multiply, x, bias)
    assert scales.shape == x.shape[:1]
    if not chance.odd:
        allowed = 1e-4 + x.norm(dim=1)[:, None] * weight.norm(dim=1) * size**0.5 / 15_000
        assert ((found - F.linear(x, weight, bias)).abs() <= allowed).all()


def highest(chance: Chance) -> None:
    out, size = chance.one_of((1, 2, 47, 49, 255, 257, 600)), chance.size(least=1)
    weight, x = chance.tensor(out, size, dtype=torch.float32), chance.tensor(chance.size(), size, dtype=torch.float32)
    bias = chance.one_of((None, chance.tensor(out, dtype=torch.float32)))
    count = chance.number(chance.size(least=1), 0, -1, -(2**40), 2**62)
    matrix = answer(("weight",), make_shortlist, weight)
    if matrix is None:
        return
    found = answer(("x", "bias", "count"), matrix.top_k, x, bias, count)
    wanted, count = F.linear(x, weight, bias), min(count, len(weight))
    expect_same(found.topk(count).values, wanted.topk(count).values)


def _matrix(chance: Chance, out: int, size: int) -> Matrix:
    scale = 1 / max(size, 1) ** 0.5
    weight = chance.tensor(out, size, dtype=torch.float32)
    return Matrix(weight * scale if chance.happens(0.5) else weight, chance.tensor(out, dtype=torch.float32))


def _norm(chance: Chance, dim: int) -> Norm:
    eps = chance.one_of((1e-5, 1e-2))
    return Norm(chance.tensor(dim, dtype=torch.float32), chance.tensor(dim, dtype=torch.float32), (dim,), eps)


def _sizes(chance: Chance) -> tuple[int, int, int, int, int]:
    """Sentences, items, heads, dim and the inner size."""
    heads = chance.size(least=1, most=3)
    return chance.size(most=4), chance.size(most=17), heads, heads * chance.size(least=1, most=8), chance.size(least=1)


def steps(chance: Chance) -> None:
    sentences, items, heads, dim, inner = _sizes(chance)
    copies, count = chance.size(least=1, most=3), chance.size(least=1, most=2)
    layers = tuple(
        LayerWeights(
            *(_norm(chance, dim), _matrix(chance, 3 * dim, dim), _matrix(chance, dim, dim)),
            *(_norm(chance, dim), _matrix(chance, dim, dim), _matrix(chance, dim, dim)),
            *(_norm(chance, dim), _matrix(chance, inner, dim), nn.ReLU(), _matrix(chance, dim, inner)),
        )
        for _ in range(count)
    )
    cross = _matrix(chance, 2 * count * dim, dim)
    encoded = Encoded(chance.tensor(sentences, items, dim, dtype=torch.float32), chance.mask(sentences, 1, items))
    how: dict[str, Any] = {"pre_norm": chance.happens(0.5), "scale": dim**-0.5}
    sharing = {"heads": chance.number(heads, 0, -1, heads + 1), "copies": chance.number(copies, 0, -1)}
    names = "states", "mask", "heads", "copies", "cross"
    weights = answer(("layers",), gather, layers, **how)
    plain_weights = weights._replace(addresses=None)
    state = answer(names, start_steps, weights, cross, encoded, **sharing)
    plain = start_steps(plain_weights, cross, encoded, **sharing)
    for _ in range(chance.size(least=1, most=5)):
        x = chance.tensor(sentences * copies, dim, dtype=torch.float32)
        need_weights = chance.happens(0.2)
        found, state, _ = answer(("x",), step_through, x, state, need_weights=need_weights)
        wanted, plain, _ = step_through(x, plain, need_weights=True)
        expect_same(found, wanted, loose=100)
        if chance.happens(0.3) and sentences:
            kept = [chance.one_of(range(sentences)) for _ in range(chance.size(least=1, most=sentences))]
            rows = torch.tensor([row * copies + chance.one_of(range(copies)) for row in kept for _ in range(copies)])
            if chance.goes_wrong():
                rows = chance.one_of((rows + 1, rows - 1, rows[1:], rows + 2**40, rows.float()))
            state, plain, sentences = answer(("rows",), state.reorder, rows), plain.reorder(rows), len(kept)


def encoder(chance: Chance) -> None:
    sentences, items, heads, dim, inner = _sizes(chance)
    layers = tuple(
        EncoderWeights(
            *(_norm(chance, dim), _matrix(chance, 3 * dim, dim), _matrix(chance, dim, dim)),
            *(_norm(chance, dim), _matrix(chance, inner, dim), _matrix(chance, dim, inner)),
        )
        for _ in range(chance.size(least=1, most=2))
    )
    how: dict[str, Any] = {"pre_norm": chance.happens(0.5), "scale": dim**-0.5}
    how["heads"] = chance.number(heads, 0, -1, heads + 1, 2**40)
    x, mask = chance.tensor(sentences, items, dim, dtype=torch.float32), chance.mask(sentences, 1, items)
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
    *(additive_scores, additive_slopes, best_tokens, drop, turing_step, turing_backward),
    *(int8, packed, highest, steps, encoder),
)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_any_arguments(kind: Callable[[Chance], None], monkeypatch: pytest.MonkeyPatch) -> None:
    if kind in (turing_step, turing_backward) and library_for(turing_step_kernel.SOURCE, torch.empty(0)) is None:
        pytest.skip("no C loops here, and saccade.nets has the same in torch's operations")
    monkeypatch.setattr(shortlist, "MIN_WEIGHTS", 0)
    monkeypatch.setattr(transformer_steps, "_INITIAL_CAPACITY", 2)
    monkeypatch.setattr(fused_encoder, "MAX_FUSED_TOKENS", 100)
    for module in CALLERS:
        monkeypatch.setattr(module, "call", call_fenced)
    answered = 0
    for seed in range(CALLS):
        chance = Chance(seed)
        monkeypatch.setattr(transformer_steps, "MAX_FUSED_ROWS", chance.one_of((0, 64)))
        try:
            with torch.no_grad() if kind is not turing_backward else torch.enable_grad():
                kind(chance)
            answered += 1
        except Refused as refusal:
            if chance.right:
                raise AssertionError(f"{seed}: {chance.drawn}") from refusal
        except Exception as error:
            raise AssertionError(f"{seed}: {chance.drawn}") from error
    assert answered > CALLS / 2
