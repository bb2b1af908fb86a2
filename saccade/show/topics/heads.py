"""several heads look at different things at once, and cost what one head costs"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from saccade.attention import MultiHead
from saccade.show.lesson import Block, Lesson, Matrix, Table, Text

LETTERS, LENGTH = 6, 8  # of an alphabet, and of a sequence
BACK = (1, 3)  # how far back the two letters are that have to be said
DIM = 16
HEADS = (1, 2, 4)
STEPS, BATCH = 250, 64


class Trained(NamedTuple):
    """What became of so many heads."""

    weights: NDArray[Any]  # [H, T, S], of the places that have to answer, the mean of new sequences
    right: float  # percentage of letters
    parameters: int
    operations: int  # of one sequence

    def share(self, head: int, back: int) -> float:
        """How much of a head's weight goes to the letter so far back, in the mean."""
        places = range(self.weights.shape[1])
        return float(sum(self.weights[head, place, place + max(BACK) - back] for place in places)) / len(places)


def lesson(*, seed: int = 1) -> Lesson:
    trained = {heads: train(heads, seed=seed) for heads in HEADS}
    one, two = trained[1], trained[2]
    maps: list[Block] = [
        _map(one, 0, "One head: it has to look at both letters at once"),
        *(_map(two, head, f"Two heads, number {head + 1}") for head in range(2)),
    ]
    return Lesson(
        "Several heads",
        (
            Text(
                f"A task for which one has to look at two places: at each letter of a random sequence, say the letter"
                f" {BACK[0]} back and the letter {BACK[1]} back. A layer of width {DIM} with one, two and four heads"
                f" has just been trained on it for {STEPS} steps. Rows are the places from {max(BACK) + 1} on, columns"
                " the places that they look at."
            ),
            *maps,
            Table(
                ("heads", "size of each", "letters right", "parameters", "operations"),
                tuple(
                    (f"{heads}", f"{DIM // heads}", f"{it.right:.1f} %", f"{it.parameters:,}", f"{it.operations:,}")
                    for heads, it in trained.items()
                ),
                caption="What it brings, and what it costs",
            ),
            Text(
                f"One head gives {one.share(0, BACK[0]):.2f} of its weight to one letter and"
                f" {one.share(0, BACK[1]):.2f} to the other, and hands on the mixture of both, in which nobody can tell"
                f" which was which: {one.right:.0f} % right. Two heads share the work: the first gives"
                f" {two.share(0, BACK[0]):.2f} and {two.share(0, BACK[1]):.2f} to the two letters, the second"
                f" {two.share(1, BACK[0]):.2f} and {two.share(1, BACK[1]):.2f}, and {two.right:.0f} % are right."
            ),
            Text(
                f"It costs nothing: each of H heads has the size {DIM} / H, so that parameters and operations stay what"
                f" they were. What grows is the number of weights that a softmax makes: H for each pair of places."
            ),
        ),
        paper="Vaswani 2017, Attention Is All You Need, section 3.2.2",
    )


def _map(trained: Trained, head: int, caption: str) -> Matrix:
    places = [f"{place + 1}" for place in range(LENGTH)]
    return Matrix(trained.weights[head], places[max(BACK) :], places, caption=caption)


def train(heads: int, *, seed: int) -> Trained:
    """Learn the task with so many heads."""
    torch.manual_seed(seed)
    attention, output = MultiHead(DIM, heads), nn.Linear(DIM, len(BACK) * LETTERS)
    optimizer = torch.optim.Adam([*attention.parameters(), *output.parameters()], lr=2e-2)
    for _ in range(STEPS):
        x, wanted = make_batch(BATCH)
        logits = _logits(output, attention(x).context)
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 2), wanted.flatten()).backward()
        optimizer.step()
    with torch.no_grad():
        x, wanted = make_batch(200)
        found = attention(x, need_weights=True)
        right = (_logits(output, found.context).argmax(-1) == wanted).double().mean()
        assert found.weights is not None
        with FlopCounterMode(display=False) as counter:
            attention(x[:1], need_weights=True)
    return Trained(
        found.weights[:, :, max(BACK) :].mean(0).numpy(),
        100 * float(right),
        sum(one.numel() for one in attention.parameters()),
        counter.get_total_flops(),
    )


def make_batch(size: int) -> tuple[Tensor, Tensor]:
    """Random sequences `[B, S, DIM]`, letters and places both as one-hot, and what is wanted `[B, S - 3, 2]`."""
    letters = torch.randint(LETTERS, (size, LENGTH))
    places = torch.eye(LENGTH).expand(size, -1, -1)
    x = torch.cat((F.one_hot(letters, LETTERS).float(), places), dim=-1)
    wanted = torch.stack([letters[:, max(BACK) - back : LENGTH - back] for back in BACK], dim=-1)
    return F.pad(x, (0, DIM - x.shape[-1])), wanted


def _logits(output: nn.Linear, context: Tensor) -> Tensor:
    """`[B, S, DIM]` -> `[B, S - 3, 2, LETTERS]`, of the places that have so much before them."""
    return output(context[:, max(BACK) :]).unflatten(-1, (len(BACK), LETTERS))
