"""how a head of a Neural Turing Machine finds its place: content, interpolation, shift, sharpening"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from saccade.attention import Addressing, address, content_weighting, interpolate, sharpen, shift
from saccade.show.lesson import Lesson, Matrix, Table, Text

LOCATIONS, NUMBERS = 7, 8  # of the memory: N, and M at each
WANTED, LAST = 4, 1  # the location that is like the key, and the one where the head was
NOISE = 0.4  # between the key and what is written there
BETA, GATE, GAMMA = 6.0, 0.8, 3.0
OFFSETS = (0.05, 0.15, 0.8)  # one back, stay, one on
MOVES = 7  # of the head that walks: once around

_NAMES = [str(location) for location in range(LOCATIONS)]


class Steps(NamedTuple):
    """Where a head looks, after each step of its addressing: `[N]` each."""

    last: Tensor
    content: Tensor
    interpolated: Tensor
    shifted: Tensor
    sharpened: Tensor


def lesson(*, seed: int = 1) -> Lesson:
    torch.manual_seed(seed)
    memory = torch.randn(LOCATIONS, NUMBERS)
    key = memory[WANTED] + NOISE * torch.randn(NUMBERS)
    last = F.one_hot(torch.tensor(LAST), LOCATIONS).float()
    steps = step_by_step(memory, key, last)
    blurred, sharp = walk(memory, last, gamma=1.0), walk(memory, last, gamma=GAMMA)
    return Lesson(
        "How a head finds its place",
        (
            Text(f"""
                The memory of this Neural Turing Machine has {LOCATIONS} locations, {NUMBERS} numbers at each. The head
                was at location {LAST}. It brings a key that is like what stands at location {WANTED}, and wants the one
                after that. Four steps are to take it there, and a gradient comes through all of them, so that a net can
                learn to give the orders.
            """),
            Matrix(
                memory.numpy(),
                _NAMES,
                [""] * NUMBERS,
                caption="The memory",
                diverging=True,
                digits=1,
            ),
            Matrix(
                torch.stack(steps).numpy(),
                ("where it was", "1 content", "2 interpolation", "3 shift", "4 sharpening"),
                _NAMES,
                caption="Where the head looks, after each step",
            ),
            Table(
                ("step", "formula", "here", "peak at", "weight", "entropy"),
                [
                    _row("content", "softmax(β cos)", f"β = {BETA:g}", steps.content),
                    _row("interpolation", "g c + (1 - g) last", f"g = {GATE:g}", steps.interpolated),
                    _row("shift", "Σ s(j) w(i - j)", ", ".join(map(str, OFFSETS)), steps.shifted),
                    _row("sharpening", "w^γ / Σ w^γ", f"γ = {GAMMA:g}", steps.sharpened),
                ],
                caption="Entropy in bits: 0 is one location alone",
            ),
            Text(f"""
                By content, location {int(steps.content.argmax())} fits best. The gate keeps {1 - GATE:.1f} of where the
                head was. The shift moves {OFFSETS[-1]:g} of each weight one location on, and blurs: the largest weight
                falls from {float(steps.interpolated.max()):.2f} to {float(steps.shifted.max()):.2f}. Sharpening makes
                up for it: {float(steps.sharpened.max()):.2f} at location {int(steps.sharpened.argmax())}.
            """),
            Matrix(sharp.numpy(), _moves(), _NAMES, caption=f"A head that walks, with γ = {GAMMA:g}"),
            Matrix(blurred.numpy(), _moves(), _NAMES, caption="The same without sharpening, γ = 1"),
            Text(f"""
                With g = 0 the content does not count, and a head walks through its memory from wherever it was: so a
                list is copied. The memory is a ring: {MOVES} moves, and the head is back at location
                {int(sharp[-1].argmax())}, with a weight of {float(sharp[-1].max()):.2f}. Without sharpening the largest
                weight is {float(blurred[-1].max()):.2f} by then: what each shift leaves behind adds up, until the head
                looks everywhere.
            """),
        ),
        paper="Graves 2014, Neural Turing Machines, section 3.3",
    )


def step_by_step(memory: Tensor, key: Tensor, last: Tensor) -> Steps:
    """One step of the addressing after the other, for one head."""
    content = content_weighting(key[None], memory, torch.tensor([BETA]))[0]
    interpolated = interpolate(content, last, torch.tensor(GATE))
    shifted = shift(interpolated, torch.tensor(OFFSETS))
    return Steps(last, content, interpolated, shifted, sharpen(shifted, torch.tensor(GAMMA)))


def orders(key: Tensor, *, gate: float = GATE, gamma: float = GAMMA) -> Addressing:
    """What one head would say, to find its place by `address`."""
    beta, gates, gammas = (torch.tensor([number]) for number in (BETA, gate, gamma))
    return Addressing(key[None], beta, gates, torch.tensor([OFFSETS]), gammas)


def walk(memory: Tensor, start: Tensor, *, gamma: float) -> Tensor:
    """Where a head looks that only moves on, move by move: `[MOVES + 1, N]`."""
    move_on = orders(torch.ones(NUMBERS), gate=0.0, gamma=gamma)  # with that gate, any key will do
    weights = [start[None]]
    for _ in range(MOVES):
        weights.append(address(memory, weights[-1], move_on))
    return torch.cat(weights)


def entropy(weights: Tensor) -> float:
    """In bits."""
    return float(torch.special.entr(weights).sum()) / math.log(2)


def _row(name: str, formula: str, here: str, weights: Tensor) -> tuple[str, ...]:
    most = float(weights.max())
    return name, formula, here, str(int(weights.argmax())), f"{most:.2f}", f"{entropy(weights):.2f}"


def _moves() -> list[str]:
    return ["start", *(f"move {number}" for number in range(1, MOVES + 1))]
