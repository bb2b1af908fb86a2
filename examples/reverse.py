"""A small attention at work: it learns to spell words backwards, and shows where it looks.

For each letter that it writes, a query (the place in the new word, and the length of the old one) looks at the letters
of the old word, and what it gathers says which letter to write. Nobody tells it where to look.
"""

import io
import random
import sys
import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from saccade.attention import Attended, Attention, Sinusoidal, additive_backend, make_score, padding_mask

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONGEST = 10
DIM = 64
SHADES = "·░▒▓█"


class Reverser(nn.Module):
    """Letters in, the same letters in the order that attention chose out."""

    def __init__(self, score_name: str) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), DIM)
        self.lengths = nn.Embedding(LONGEST + 1, DIM)
        self.positions = Sinusoidal(DIM)
        self.query = nn.Sequential(nn.Linear(DIM, DIM), nn.Tanh(), nn.Linear(DIM, DIM))
        self.attention = Attention(make_score(score_name, DIM, DIM))
        self.output = nn.Linear(DIM, len(LETTERS))

    def forward(self, words: Tensor, lengths: Tensor, *, need_weights: bool = False) -> tuple[Tensor, Attended]:
        letters = self.letters(words)  # [B, S, DIM]
        keys = self.positions(letters)
        queries = self.query(self.positions(self.lengths(lengths)[:, None].expand_as(letters)))
        mask = padding_mask(lengths, size=words.shape[1])
        attended = self.attention(queries, keys, letters, mask=mask, need_weights=need_weights)
        return self.output(attended.context), attended


def make_words(chance: random.Random, count: int) -> list[str]:
    return ["".join(chance.choices(LETTERS, k=chance.randint(3, LONGEST))) for _ in range(count)]


def as_tensors(words: list[str]) -> tuple[Tensor, Tensor, Tensor]:
    """Letters `[B, S]`, the letters backwards `[B, S]` with -100 as padding, and the lengths `[B]`."""
    size = max(map(len, words))
    forward = torch.tensor([[LETTERS.index(c) for c in word.ljust(size, "a")] for word in words])
    backward = torch.full_like(forward, -100)
    for row, word in enumerate(words):
        backward[row, : len(word)] = forward[row, : len(word)].flip(0)
    return forward, backward, torch.tensor([len(word) for word in words])


def train(model: Reverser, chance: random.Random, *, steps: int) -> float:
    """Train on words that never come twice; how many seconds it took."""
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=steps)
    start = time.perf_counter()
    for _ in range(steps):
        words, wanted, lengths = as_tensors(make_words(chance, 64))
        logits, _ = model(words, lengths)
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return time.perf_counter() - start


def spell(model: Reverser, words: list[str]) -> list[str]:
    letters, _, lengths = as_tensors(words)
    with torch.no_grad():
        logits, _ = model(letters, lengths)
    return [
        "".join(LETTERS[i] for i in row[:length].tolist())
        for row, length in zip(logits.argmax(-1), lengths.tolist(), strict=True)
    ]


def draw(model: Reverser, word: str) -> str:
    """One row for each letter written, one column for each letter read, darker where more weight lies."""
    letters, _, lengths = as_tensors([word])
    with torch.no_grad():
        _, attended = model(letters, lengths, need_weights=True)
    assert attended.weights is not None
    lines = ["      " + "  ".join(word)]
    for letter, weights in zip(spell(model, [word])[0], attended.weights[0].tolist(), strict=True):
        cells = (SHADES[min(len(SHADES) - 1, int(weight * len(SHADES)))] * 2 for weight in weights)
        lines.append(f"   {letter}  " + " ".join(cells))
    return "\n".join(lines)


def main() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # a terminal of another encoding would choke on the shades
    torch.manual_seed(1)
    chance = random.Random(1)  # noqa: S311
    held_out = make_words(random.Random(2), 1000)  # noqa: S311
    model = Reverser("additive")
    print("saccade: an attention learns to spell words backwards, and shows where it looks.\n")
    print("Before training (rows: letters it writes, columns: letters it reads, darker: more weight)\n")
    print(draw(model, "saccade") + "\n")
    for score_name, trained in (("additive", model), ("scaled-dot", Reverser("scaled-dot"))):
        print(f"Training with the {score_name} score ...", end=" ", flush=True)
        seconds = train(trained, chance, steps=700)
        right = sum(out == word[::-1] for out, word in zip(spell(trained, held_out), held_out, strict=True))
        print(f"{seconds:.0f} s, {right} of {len(held_out)} new words spelt backwards without a mistake")
    print("\nAfter training, with the additive score\n")
    print(draw(model, "saccade") + "\n")
    print(f"Additive scores are computed by {additive_backend().split(':')[0]} loops on this machine.")
    print("The code is examples/reverse.py; `make test` runs the tests, `make bench` the measurements.")


if __name__ == "__main__":
    main()
