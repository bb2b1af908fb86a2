"""The Neural Turing Machine beside the design of the public ones, both in one run: `python -m bench.memory`.

The other side is written here after the best known of them (pytorch-ntm): each head by itself with linear maps of its
own, a shift of three taps that goes through the batch one sequence at a time, sharpening as a power. Both copy 8 bits
with 128 locations of 20 numbers and an LSTM controller of 100, in training, with Adam.

One JSON line a case:

    case, batch, length    sequences in a batch, vectors in a sequence
    steps, other_steps     training steps a second, medians, both sides taking turns
    ratio, ratio_range     steps / other_steps: the median of the turns, the slowest and the fastest of them
    path                   what saccade's steps ran on
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.nets import TuringMachine
from saccade.nets._kernels import turing_step
from saccade.runtime.native import load_library
from saccade.tasks.algorithms.problems import AlgorithmSettings, make_episodes

LOCATIONS, WIDTH, DIM, BITS = 128, 20, 100, 8


class Case(NamedTuple):
    """What both sides train on."""

    batch: int
    length: int


CASES = {"batch-16": Case(16, 10), "batch-16-length-20": Case(16, 20), "batch-1": Case(1, 10), "batch-64": Case(64, 10)}


class LoopedHead(nn.Module):
    """A head as the public machines have it."""

    def __init__(self, *, writes: bool) -> None:
        super().__init__()
        self.sizes = [WIDTH, 1, 1, 3, 1] + ([WIDTH, WIDTH] if writes else [])
        self.head_projection = nn.Linear(DIM, sum(self.sizes))

    def forward(self, hidden: Tensor, last: Tensor, memory: Tensor) -> tuple[Tensor, list[Tensor]]:
        key, beta, gate, offsets, gamma, *changes = self.head_projection(hidden).split(self.sizes, dim=1)
        offsets, gate = F.softmax(offsets, dim=1), torch.sigmoid(gate)
        alike = F.cosine_similarity(memory + 1e-16, key[:, None, :] + 1e-16, dim=-1)
        mixed = gate * F.softmax(F.softplus(beta) * alike, dim=1) + (1 - gate) * last
        moved = torch.zeros_like(mixed)
        for row in range(len(mixed)):
            around = torch.cat([mixed[row, -1:], mixed[row], mixed[row, :1]])
            moved[row] = F.conv1d(around.view(1, 1, -1), offsets[row].view(1, 1, -1)).view(-1)
        sharp = moved ** (1 + F.softplus(gamma))
        return sharp / (sharp.sum(dim=1, keepdim=True) + 1e-16), changes


class LoopedMachine(nn.Module):
    """A machine as the public ones are built."""

    def __init__(self) -> None:
        super().__init__()
        self.controller = nn.LSTM(BITS + 1 + WIDTH, DIM)
        self.read, self.write = LoopedHead(writes=False), LoopedHead(writes=True)
        self.answer = nn.Linear(DIM + WIDTH, BITS)
        self.register_buffer("first", torch.randn(LOCATIONS, WIDTH) / WIDTH**0.5)

    def forward(self, inputs: Tensor) -> Tensor:
        count = len(inputs)
        memory = self.get_buffer("first").repeat(count, 1, 1)
        read, outputs = inputs.new_zeros(count, WIDTH), []
        weights = [inputs.new_zeros(count, LOCATIONS) for _ in range(2)]
        state = (inputs.new_zeros(1, count, DIM), inputs.new_zeros(1, count, DIM))
        for step in range(inputs.shape[1]):
            seen, state = self.controller(torch.cat([inputs[:, step], read], dim=1)[None], state)
            weights[0], _ = self.read(seen[0], weights[0], memory)
            read = torch.matmul(weights[0][:, None], memory)[:, 0]
            weights[1], (erase, add) = self.write(seen[0], weights[1], memory)
            erased = torch.matmul(weights[1][..., None], torch.sigmoid(erase)[:, None])
            memory = memory * (1 - erased) + torch.matmul(weights[1][..., None], add[:, None])
            outputs.append(self.answer(torch.cat([seen[0], read], dim=1)))
        return torch.stack(outputs, dim=1)


def our_machine() -> Callable[[Tensor], Tensor]:
    net = TuringMachine(
        BITS + 1, BITS, locations=LOCATIONS, width=WIDTH, dim=DIM, controller="lstm", memory_init="random"
    )
    return _Trained(net, lambda inputs: net(inputs)[0])


def looped_machine() -> Callable[[Tensor], Tensor]:
    net = LoopedMachine()
    return _Trained(net, net)


class _Trained:
    """One step of training with a batch, as a call."""

    def __init__(self, net: nn.Module, run: Callable[[Tensor], Tensor]) -> None:
        self.net, self.run = net, run
        self.optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)

    def __call__(self, inputs: Tensor) -> Tensor:
        length = inputs.shape[1] // 2
        self.optimizer.zero_grad()
        outputs = self.run(inputs)[:, length + 1 :]
        loss = F.binary_cross_entropy_with_logits(outputs, inputs[:, :length, :BITS])
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 10.0)
        self.optimizer.step()
        return loss.detach()


def race(name: str, case: Case, turns: int, steps: int) -> dict[str, object]:
    """Both sides in turns, each turn so many steps of training."""
    torch.manual_seed(0)
    settings = AlgorithmSettings(make="copy", bits=BITS)
    inputs = torch.from_numpy(make_episodes(settings, case.batch, seed=0, length=case.length).inputs)
    sides = [our_machine(), looped_machine()]
    rates: list[list[float]] = [[], []]
    for side in sides:
        side(inputs)  # what is built or allocated at first use
    for _ in range(turns):
        for side, found in zip(sides, rates, strict=True):
            began = time.perf_counter()
            for _ in range(steps):
                side(inputs)
            found.append(steps / (time.perf_counter() - began))
    ratios = [ours / other for ours, other in zip(*rates, strict=True)]
    library = load_library(turing_step.SOURCE, "float")
    return {
        "case": name,
        **case._asdict(),
        "steps": round(statistics.median(rates[0]), 2),
        "other_steps": round(statistics.median(rates[1]), 2),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_range": [round(min(ratios), 2), round(max(ratios), 2)],
        "path": "torch" if library.functions is None else "native",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="The Neural Turing Machine beside the usual design of it.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)} (all)")
    parser.add_argument("--turns", type=int, default=5, help="of each side (5)")
    parser.add_argument("--steps", type=int, default=5, help="of training in a turn (5)")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.cases if name not in CASES]
    if unknown:
        parser.error(f"found {unknown[0]}, wanted of {', '.join(CASES)}")
    for name in chosen.cases or CASES:
        print(json.dumps(race(name, CASES[name], chosen.turns, chosen.steps)), flush=True)


if __name__ == "__main__":
    main()
