"""The attention core beside the usual way, both in one run: `make bench`, or `python -m bench.attention [CASE ...]`.

One JSON line a case:

    case, shape     what is computed; every case is a forward and a backward pass
    path            the way that saccade took, and the kernel at its end
    seconds, other_seconds
                    medians, both sides taking turns
    ratio           other_seconds / seconds: how many times as fast as the other side
    ratio_range     the same for the slowest and the fastest turn
    megabytes, other_megabytes
                    the most memory that a pass took beyond its inputs, each side in a process of its own
    memory_ratio    megabytes / other_megabytes
    other           the other side, in words; null figures say that it cannot run here
"""

import argparse
import ctypes
import gc
import json
import math
import multiprocessing
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.watch import Watch
from saccade.attention import (
    Additive,
    Attention,
    Cosine,
    Dot,
    General,
    Location,
    MultiHead,
    ScaledDot,
    Score,
    attention_path,
)
from saccade.runtime.kernels.additive import additive_backend

Pass = Callable[[], Tensor]


class Side(NamedTuple):
    """One side of a comparison: a forward pass, and what its backward pass gives gradients to."""

    forward: Pass
    inputs: tuple[Tensor, ...]


class Case(NamedTuple):
    """What is compared. The sides are made when they are needed, in the process that runs them."""

    shape: tuple[int, ...]
    path: Callable[[], str]
    ours: Callable[[], Side]
    other: Callable[[], Side] | None
    other_name: str
    environment: tuple[tuple[str, str], ...] = ()


def sequences(batch: int, queries: int, keys: int, dim: int) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    shapes = ((batch, queries, dim), (batch, keys, dim), (batch, keys, dim))
    query, key, value = (torch.randn(shape, requires_grad=True) for shape in shapes)
    return query, key, value


def layer_side(score: Score, shape: tuple[int, ...]) -> Side:
    layer, tensors = Attention(score), sequences(*shape)
    return Side(lambda: layer(*tensors).context, (*tensors, *layer.parameters()))


def naive_additive_side(shape: tuple[int, ...]) -> Side:
    """The form of tutorials: a tensor [batch, queries, keys, dim], and its tanh."""
    score, (query, key, value) = Additive(shape[-1], shape[-1]), sequences(*shape)

    def forward() -> Tensor:
        hidden = torch.tanh(score.query_projection(query)[:, :, None] + score.key_projection(key)[:, None])
        return (hidden @ score.v).softmax(-1) @ value

    return Side(forward, (query, key, value, *score.parameters()))


def bare_fused_side(shape: tuple[int, ...]) -> Side:
    """Nothing but torch's kernel, called as it likes best."""
    query, key, value = (x.detach()[:, None].requires_grad_() for x in sequences(*shape))
    return Side(lambda: F.scaled_dot_product_attention(query, key, value), (query, key, value))


def general_by_hand_side(shape: tuple[int, ...]) -> Side:
    query, key, value = sequences(*shape)
    weight = General(shape[-1], shape[-1]).weight

    def forward() -> Tensor:
        return F.scaled_dot_product_attention((query @ weight)[:, None], key[:, None], value[:, None], scale=1.0)

    return Side(forward, (query, key, value, weight))


def fused_dropout_side(shape: tuple[int, ...], dropout: float) -> Side:
    query, key, value = (x.detach()[:, None].requires_grad_() for x in sequences(*shape))
    return Side(lambda: F.scaled_dot_product_attention(query, key, value, dropout_p=dropout), (query, key, value))


def dropout_side(shape: tuple[int, ...], dropout: float) -> Side:
    layer, tensors = Attention(ScaledDot(), dropout=dropout), sequences(*shape)
    return Side(lambda: layer(*tensors).context, tensors)


def multi_head_side(shape: tuple[int, ...], heads: int) -> Side:
    layer, (x, _, _) = MultiHead(shape[-1], heads), sequences(*shape)
    return Side(lambda: layer(x).context, (x, *layer.parameters()))


def torch_multi_head_side(shape: tuple[int, ...], heads: int) -> Side:
    layer, (x, _, _) = nn.MultiheadAttention(shape[-1], heads, batch_first=True), sequences(*shape)
    return Side(lambda: layer(x, x, x, need_weights=False)[0], (x, *layer.parameters()))


def additive_path(shape: tuple[int, ...]) -> str:
    path = attention_path(Additive(1, 1), Attention(Dot()).weighting, shape=shape[:3])
    return f"{path}, {additive_backend().split(':')[0]} loops"


def fused_path(score: Score, shape: tuple[int, ...]) -> str:
    path = attention_path(score, Attention(Dot()).weighting, shape=shape[:3])
    with Watch() as watch:
        Attention(score)(*sequences(*shape))
    return f"{path}, {'flash' if watch.saw('flash_attention') else 'torch without flash'}"


LARGE = (8, 512, 512, 256)
LONGER = (8, 1024, 1024, 256)
LONG = (1, 4096, 4096, 256)
DIM = LARGE[-1]
BARE = "one bare call of torch's fused kernel"
NAIVE = "the naive form with its [batch, queries, keys, dim] tensor"


def fused_case(
    make_score: Callable[[], Score],
    shape: tuple[int, ...],
    other: Callable[[tuple[int, ...]], Side],
    other_name: str,
) -> Case:
    """A score that ends in torch's fused kernel, beside that kernel."""
    return Case(
        shape,
        lambda: fused_path(make_score(), shape),
        lambda: layer_side(make_score(), shape),
        lambda: other(shape),
        other_name,
    )


CASES: dict[str, Case] = {
    "additive": Case(
        LARGE,
        lambda: additive_path(LARGE),
        lambda: layer_side(Additive(DIM, DIM), LARGE),
        lambda: naive_additive_side(LARGE),
        NAIVE,
    ),
    "additive-without-compiler": Case(
        LARGE,
        lambda: additive_path(LARGE),
        lambda: layer_side(Additive(DIM, DIM), LARGE),
        lambda: naive_additive_side(LARGE),
        NAIVE,
        (("SACCADE_NATIVE", "0"),),
    ),
    "additive-long": Case(
        LONG,
        lambda: additive_path(LONG),
        lambda: layer_side(Additive(DIM, DIM), LONG),
        None,
        f"{NAIVE}, {math.prod(LONG) * 4 / 1e9:.0f} GB for that tensor alone: it cannot run",
    ),
}
for score_name, make in {
    "dot": Dot,
    "scaled-dot": ScaledDot,
    "cosine": Cosine,
    "general": lambda: General(DIM, DIM),
    "location": lambda: Location(DIM, LONGER[2]),
}.items():
    CASES[score_name] = fused_case(make, LONGER, bare_fused_side, BARE)
# The product with W grows with the queries, the kernel's work with queries times keys: with 512 keys it is a fifth.
CASES["general-shorter"] = fused_case(lambda: General(DIM, DIM), LARGE, bare_fused_side, BARE)
CASES["general-by-hand"] = fused_case(lambda: General(DIM, DIM), LARGE, general_by_hand_side, f"query @ W, then {BARE}")
CASES["dropout"] = Case(
    LARGE,
    lambda: fused_path(ScaledDot(), LARGE),
    lambda: dropout_side(LARGE, 0.1),
    lambda: fused_dropout_side(LARGE, 0.1),
    "torch's scaled_dot_product_attention with dropout_p=0.1, which drops weights and takes its plain path",
)
CASES["multi-head"] = Case(
    LARGE,
    lambda: fused_path(ScaledDot(), LARGE),
    lambda: multi_head_side(LARGE, 8),
    lambda: torch_multi_head_side(LARGE, 8),
    "nn.MultiheadAttention(256, 8), self-attention, need_weights=False",
)


def run(side: Side) -> None:
    context = side.forward()
    torch.autograd.grad(context, side.inputs, torch.ones_like(context), allow_unused=True)


def measure_seconds(case: Case, turns: int) -> tuple[list[float], list[float] | None]:
    """One warm-up turn, then `turns` in which the sides alternate."""
    sides = [case.ours()] + ([case.other()] if case.other else [])
    seconds: list[list[float]] = [[] for _ in sides]
    for turn in range(turns + 1):
        for side, times in zip(sides, seconds, strict=True):
            start = time.perf_counter()
            run(side)
            if turn:
                times.append(time.perf_counter() - start)
    return seconds[0], seconds[1] if case.other else None


def measure_megabytes(make_side: Callable[[], Side]) -> float | None:
    """The peak of resident memory during one pass, less what stood there before it. Linux only."""
    side = make_side()
    warm = torch.randn(64, 64, requires_grad=True)
    F.scaled_dot_product_attention(warm[None, None], warm[None, None], warm[None, None]).sum().backward()
    (warm @ warm).softmax(-1).tanh().sum().backward()  # torch's libraries take their own memory at the first call
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)  # what making the inputs left behind is not free room for the pass
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = resident("VmRSS")
        run(side)
        return round(resident("VmHWM") - before, 1)
    return None


def resident(field: str) -> float:
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def work(name: str, task: str, turns: int, answers: "multiprocessing.Queue[object]") -> None:
    """What a child process does: one measurement of one case."""
    case = CASES[name]
    if task == "seconds":
        answers.put((case.path(), *measure_seconds(case, turns)))
    else:
        make_side = case.ours if task == "ours" else case.other
        answers.put(None if make_side is None else measure_megabytes(make_side))


def in_child(name: str, task: str, turns: int) -> object:
    """Each measurement has a process of its own, so that none finds another's memory or settings."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    kept = dict(os.environ)
    os.environ.update(CASES[name].environment)
    try:
        child = context.Process(target=work, args=(name, task, turns, answers))
        child.start()
        answer = answers.get()
        child.join()
    finally:
        os.environ.clear()
        os.environ.update(kept)
    return answer


def compare(name: str, turns: int) -> dict[str, object]:
    case = CASES[name]
    path, seconds, other_seconds = in_child(name, "seconds", turns)  # pyright: ignore[reportGeneralTypeIssues]
    megabytes, other_megabytes = in_child(name, "ours", turns), in_child(name, "other", turns)
    line: dict[str, object] = {"case": name, "shape": list(case.shape), "path": path}
    line |= {"seconds": round(statistics.median(seconds), 4), "other_seconds": None, "ratio": None}
    if other_seconds is not None:
        ratios = sorted(theirs / ours for ours, theirs in zip(seconds, other_seconds, strict=True))
        line["other_seconds"] = round(statistics.median(other_seconds), 4)
        line["ratio"] = round(statistics.median(other_seconds) / statistics.median(seconds), 2)
        line["ratio_range"] = [round(ratios[0], 2), round(ratios[-1], 2)]
    line |= {"megabytes": megabytes, "other_megabytes": other_megabytes, "memory_ratio": None}
    if isinstance(megabytes, float) and isinstance(other_megabytes, float):
        line["memory_ratio"] = round(megabytes / other_megabytes, 4)
    return line | {"other": case.other_name, "turns": turns, "threads": torch.get_num_threads()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("case", nargs="*", help=f"what to run, of {', '.join(CASES)}; all, if none is named")
    parser.add_argument("--turns", type=int, default=5, help="how often the two sides alternate (default 5)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.case if name not in CASES]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(CASES)}")
    if arguments.turns < 1:
        parser.error(f"--turns: found {arguments.turns}, wanted at least 1")
    for name in arguments.case or CASES:
        print(json.dumps(compare(name, arguments.turns)), flush=True)


if __name__ == "__main__":
    main()
