"""attention as a modern Hopfield network: a damaged picture is restored in one step, and its energy falls

    ξ' = Xᵀ softmax(β X ξ)        attention: the state ξ is the query, the patterns X are keys and values
    E(ξ) = -1/β log Σ_i exp(β x_i · ξ) + ½ ξ · ξ + 1/β log N + ½ max_i |x_i|²

Letters: `N` patterns, `D` pixels of each.
"""

import math

import torch
from torch import Tensor

from saccade.attention import Dot, attend
from saccade.show.lesson import Bars, Lesson, Matrix, Table, Text

LETTERS = {
    "A": (".###.", "#...#", "#...#", "#####", "#...#", "#...#", "#...#"),
    "C": (".####", "#....", "#....", "#....", "#....", "#....", ".####"),
    "D": ("####.", "#...#", "#...#", "#...#", "#...#", "#...#", "####."),
    "E": ("#####", "#....", "#....", "####.", "#....", "#....", "#####"),
    "S": (".####", "#....", "#....", ".###.", "....#", "....#", "####."),
    "T": ("#####", "..#..", "..#..", "..#..", "..#..", "..#..", "..#.."),
}
HIGH, WIDE = 7, 5
SHOWN = "S"
FLIPPED = 6  # of 35 pixels
HIDDEN = 3  # rows at the bottom
BETA = 0.5
BETAS = (0.01, 0.1, 1 / math.sqrt(HIGH * WIDE), BETA, 1.0)
STEPS = 3
CLASSIC_STEPS = 10


def lesson(*, seed: int = 1) -> Lesson:
    patterns = stored()
    whole = patterns[list(LETTERS).index(SHOWN)]
    flipped, hidden = flip(whole, seed), hide(whole)
    restored, weights = update(flipped, patterns, BETA)
    completed, _ = update(hidden, patterns, BETA)
    by_beta = {beta: update(flipped, patterns, beta) for beta in BETAS}
    average = by_beta[BETAS[0]][1]
    old = classic(flipped, patterns)
    return Lesson(
        "A memory that restores",
        (
            Text(f"""
                {len(LETTERS)} letters of {HIGH} × {WIDE} pixels are stored: {", ".join(LETTERS)}. A damaged one is the
                query, the letters are keys and values, and attention gives the mean of the letters, weighted by how
                well they fit. In a Hopfield network of today, that is one update of its state.
            """),
            _side_by_side((whole, flipped, restored), f"{SHOWN}; with {FLIPPED} pixels flipped; after one step"),
            _side_by_side((whole, hidden, completed), f"{SHOWN}; with {HIDDEN} rows hidden; after one step"),
            Bars(list(LETTERS), weights.tolist(), "weight", caption=f"What the flipped {SHOWN} looks at, β = {BETA:g}"),
            Text(f"""
                One step takes the flipped {SHOWN} from {wrong(flipped, whole)} wrong pixels to
                {wrong(restored, whole)}, and the one with hidden rows from {wrong(hidden, whole)} to
                {wrong(completed, whole)}, if a pixel is ink or paper by its sign. Each step lowers the energy, as
                it must, and further steps find little to do:
            """),
            Table(
                ("step", "energy", f"weight of {SHOWN}", "wrong pixels"),
                descent(flipped, whole, patterns),
            ),
            Table(
                ("β", f"weight of {SHOWN}", "wrong pixels"),
                [
                    (f"{beta:.2f}", f"{_weight(found):.2f}", str(wrong(state, whole)))
                    for beta, (state, found) in by_beta.items()
                ],
                caption=f"After one step, by β; the scaled dot product has 1 / √{HIGH * WIDE} = {BETAS[2]:.2f}",
            ),
            Text(f"""
                β says how clearly it decides. A small one gives the mean of all letters (each gets
                {float(average.min()):.2f} to {float(average.max()):.2f}), which is no memory of any; a large one, the
                one that fits best. The network of 1982, without a softmax, is left with {wrong(old, whole)} wrong
                pixels: for it, these letters are too many and too alike.
            """),
        ),
        paper="Ramsauer 2020, Hopfield Networks is All You Need; Hopfield 1982",
    )


def stored() -> Tensor:
    """The letters, `[N, D]`: 1 for ink, -1 for paper."""
    return torch.tensor([[1.0 if pixel == "#" else -1.0 for row in rows for pixel in row] for rows in LETTERS.values()])


def flip(whole: Tensor, seed: int) -> Tensor:
    """Some pixels turned into their opposite."""
    damaged = whole.clone()
    damaged[torch.randperm(len(whole), generator=torch.Generator().manual_seed(seed))[:FLIPPED]] *= -1
    return damaged


def hide(whole: Tensor) -> Tensor:
    """The rows at the bottom as neither ink nor paper."""
    damaged = whole.clone()
    damaged[-HIDDEN * WIDE :] = 0.0
    return damaged


def update(state: Tensor, patterns: Tensor, beta: float) -> tuple[Tensor, Tensor]:
    """One step of the network, which is attention: the new state `[D]`, and the weights of the patterns, `[N]`."""
    output = attend(beta * state[None], patterns, score=Dot(), need_weights=True)
    assert output.weights is not None  # they were asked for
    return output.context[0], output.weights[0]


def energy(state: Tensor, patterns: Tensor, beta: float) -> float:
    fits = torch.logsumexp(beta * patterns @ state, dim=0) / beta
    least = math.log(len(patterns)) / beta + float(patterns.square().sum(-1).max()) / 2  # so that it is never below 0
    return float(-fits + state @ state / 2) + least


def classic(state: Tensor, patterns: Tensor) -> Tensor:
    """Where the network of Hopfield 1982 ends: `ξ' = sign(W ξ)`, with `W = Σ x xᵀ` and no pixel joined to itself."""
    joined = patterns.T @ patterns
    joined.fill_diagonal_(0.0)
    for _ in range(CLASSIC_STEPS):
        state = torch.sign(joined @ state)
    return state


def wrong(state: Tensor, whole: Tensor) -> int:
    """How many pixels have not the sign that they should have."""
    return int((torch.sign(state) != whole).sum())


def descent(state: Tensor, whole: Tensor, patterns: Tensor) -> list[tuple[str, ...]]:
    """Step by step: the energy, the weight of the letter that is wanted, and how many pixels are wrong."""
    rows: list[tuple[str, ...]] = []
    for step in range(STEPS + 1):
        after, weights = update(state, patterns, BETA)
        rows.append(
            (str(step), f"{energy(state, patterns, BETA):.2f}", f"{_weight(weights):.2f}", str(wrong(state, whole)))
        )
        state = after
    return rows


def _weight(weights: Tensor) -> float:
    return float(weights[list(LETTERS).index(SHOWN)])


def _side_by_side(states: tuple[Tensor, ...], caption: str) -> Matrix:
    """Pictures in one matrix, 0 for paper and 1 for ink, with nothing between them."""
    gap = torch.full((HIGH, 2), math.nan)
    parts: list[Tensor] = []
    for state in states:
        parts += [gap, (state.view(HIGH, WIDE) + 1) / 2]
    picture = torch.cat(parts[1:], dim=1)
    return Matrix(picture.numpy(), [""] * HIGH, [""] * picture.shape[1], caption=caption, digits=1)
