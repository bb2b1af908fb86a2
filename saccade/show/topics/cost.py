"""time and memory against length: a recurrent net, attention with all its weights, and attention in tiles

Letters: `n` words, `d` numbers of each.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from saccade.attention import ScaledDot, attend
from saccade.show._numbers import number
from saccade.show.lesson import Curves, Lesson, Table, Text

DIM = 64
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)

_TURNS = 3  # the quickest counts: others had company on the processor
_WORTH = 0.02  # seconds; what takes less is repeated until it took so long
_MB = 1e6


class Cost(NamedTuple):
    """What one pass over a sequence costs."""

    seconds: float  # forward
    kept: int  # bytes that are kept for the backward pass


def lesson(*, seed: int = 1) -> Lesson:
    torch.manual_seed(seed)
    kinds = kinds_of_layer()
    costs = {name: [cost(layer, torch.randn(1, length, DIM)) for length in LENGTHS] for name, layer in kinds.items()}
    rnn, full, fused = (costs[name] for name in kinds)
    longest = LENGTHS[-1]
    return Lesson(
        "What length costs",
        (
            Text(f"""
                A sequence of n words, d = {DIM} numbers each, goes through a recurrent net; through self-attention that
                computes all n × n weights; and through the same self-attention in tiles, by torch's fused kernel, where
                only a few weights exist at a time. Times are measured now, on one core of this computer.
            """),
            Table(
                ("", "operations", "steps in a row", "memory", "path"),
                [
                    ("RNN", "O(n d²)", "n", "O(n d)", "n"),
                    ("attention, all weights", "O(n² d)", "1", "O(n² + n d)", "1"),
                    ("attention, fused", "O(n² d)", "1", "O(n d)", "1"),
                ],
                caption="Memory is what training keeps; the path is the way between the first and the last word",
            ),
            _curves({name: [1000 * one.seconds for one in line] for name, line in costs.items()}, "milliseconds"),
            Text(f"""
                From {LENGTHS[-2]:,} to {longest:,} words, the time of the RNN grows {_growth(rnn):.1f} times, that of
                attention {_growth(full):.1f} times with all weights and {_growth(fused):.1f} times fused: n against n².
                {_crossing(rnn, full)} By operations alone, attention is cheaper as long as n is below d; but the RNN
                takes its n steps one after the other, while attention's are done together.
            """),
            _curves({name: [one.kept / _MB for one in line] for name, line in costs.items()}, "MB kept for training"),
            Text(f"""
                Memory is what ends it first. For {longest:,} words, training keeps {full[-1].kept / _MB:.0f} MB of
                attention with all weights, {4 * longest**2 / _MB:.0f} MB of which are the weights themselves, for one
                head of one layer of one sentence. Fused, it keeps {fused[-1].kept / _MB:.1f} MB, and computes the
                weights again on the way back; the RNN keeps {rnn[-1].kept / _MB:.1f} MB. The outputs of both attentions
                are the same: they differ by {number(_difference(seed))} at most.
            """),
        ),
        paper="Vaswani 2017, Attention Is All You Need, table 1; Dao 2022, FlashAttention",
    )


def kinds_of_layer() -> dict[str, Callable[[Tensor], Tensor]]:
    """Layers `[1, n, d]` -> `[1, n, d]` by their names."""
    rnn = nn.RNN(DIM, DIM, batch_first=True)
    return {
        "RNN": lambda x: rnn(x)[0],
        "attention, all weights": lambda x: attend(x, x, score=ScaledDot(), need_weights=True).context,
        "attention, fused": lambda x: attend(x, x, score=ScaledDot()).context,
    }


def cost(layer: Callable[[Tensor], Tensor], x: Tensor) -> Cost:
    return Cost(seconds(lambda: layer(x)), kept_bytes(layer, x))


@torch.no_grad()
def seconds(call: Callable[[], object]) -> float:
    """How long a call takes: the quickest of a few turns, after one to warm up."""
    call()
    best = float("inf")
    for _ in range(_TURNS):
        calls, start = 0, time.perf_counter()
        while not calls or time.perf_counter() - start < _WORTH:
            call()
            calls += 1
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def kept_bytes(layer: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """The bytes of all tensors that autograd keeps of a forward pass, each counted once."""
    kept: dict[int, Tensor] = {}  # they are held until all are counted, or one might take another's place

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        layer(x.clone().requires_grad_())
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


def _curves(lines: dict[str, list[float]], label: str) -> Curves:
    return Curves(LENGTHS, lines, "words", label, log_x=True, log_y=True)


def _growth(costs: list[Cost]) -> float:
    return costs[-1].seconds / costs[-2].seconds


def _crossing(rnn: list[Cost], full: list[Cost]) -> str:
    """From which length on attention takes longer than the RNN."""
    slower = [length for length, ours, other in zip(LENGTHS, full, rnn, strict=True) if ours.seconds > other.seconds]
    if not slower:
        return f"Up to {LENGTHS[-1]:,} words, attention is the quicker one here."
    return f"Attention with all weights takes longer than the RNN from {slower[0]:,} words on."


def _difference(seed: int) -> float:
    """How far apart the two attentions are, at most."""
    x = torch.randn(1, LENGTHS[3], DIM, generator=torch.Generator().manual_seed(seed))
    _, full, fused = kinds_of_layer().values()
    return float((full(x) - fused(x)).abs().max())
