"""Batches of pairs: of similar length, within a budget of tokens, in an order that a seed and a cursor determine."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from saccade.base.shuffling import Cursor
from saccade.text.vocabularies.vocabulary import PAD, START


class Example(NamedTuple):
    """A pair as numbers, each side with `END` last."""

    source: list[int]
    target: list[int]


class Batch(NamedTuple):
    """Padded pairs. Letters: `B` pairs, `S` and `T` the longest source and target."""

    source: Tensor  # [B, S]
    source_lengths: Tensor  # [B]
    previous: Tensor  # [B, T], the target moved by one: START first
    target: Tensor  # [B, T], END last
    tokens: int  # real tokens of the target, END among them


def make_batch(examples: Sequence[Example]) -> Batch:
    """Pad the examples to one size."""
    targets = [example.target for example in examples]
    return Batch(
        source=pad([example.source for example in examples]),
        source_lengths=torch.tensor([len(example.source) for example in examples]),
        previous=pad([[START, *target[:-1]] for target in targets]),
        target=pad(targets),
        tokens=sum(map(len, targets)),
    )


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """`[rows, longest]`, with `PAD` after the shorter ones."""
    size = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (size - len(row))] for row in rows])


def _shape(example: Example) -> tuple[int, int]:
    """What examples are sorted by: neighbours need little padding, on either side.

    First the longer side, then how much the other is shorter. That goes up for even lengths and down for odd ones, so
    that a batch which reaches from one length to the next finds its like there.
    """
    longest = max(map(len, example))
    difference = len(example.source) - len(example.target)
    return longest, difference if longest % 2 else -difference


class Batches:
    """All examples once an epoch, in batches of similar lengths.

    A batch holds at most `tokens` tokens of source or target, padding included, or one example if that is longer. Each
    epoch has an order of its own: examples of equal lengths are shuffled, then the batches. The order depends on the
    seed and the epoch alone, so a `Cursor` is all there is to save. Where `examples` is a function, it gives those of
    an epoch, as many each time, from its number alone.
    """

    def __init__(
        self, examples: Sequence[Example] | Callable[[int], Sequence[Example]], *, tokens: int, seed: int
    ) -> None:
        self.examples_of = examples if callable(examples) else lambda _: examples
        self.tokens = tokens
        self.seed = seed

    def order(self, number: int, examples: Sequence[Example]) -> list[list[int]]:
        """The batches of an epoch, as indices in its examples."""
        rng = random.Random(f"batches {self.seed} {number}")
        order = list(range(len(examples)))
        rng.shuffle(order)
        order.sort(key=lambda index: _shape(examples[index]))
        batches: list[list[int]] = []
        longest = 0
        for index in order:
            length = max(map(len, examples[index]))
            longest = max(longest, length)
            if not batches or longest * (len(batches[-1]) + 1) > self.tokens:
                batches.append([])
                longest = length
            batches[-1].append(index)
        rng.shuffle(batches)
        return batches

    def one_epoch(self, number: int = 0) -> Iterator[Batch]:
        """The batches of one epoch."""
        examples = self.examples_of(number)
        for indices in self.order(number, examples):
            yield make_batch([examples[index] for index in indices])

    def stream(self, cursor: Cursor) -> Iterator[tuple[Batch, Cursor]]:
        """The batches from `cursor` on, endlessly, each with the cursor that comes after it."""
        while True:
            examples = self.examples_of(cursor.epoch)
            batches = self.order(cursor.epoch, examples)
            for number in range(cursor.batch, len(batches)):
                after = Cursor(cursor.epoch, number + 1)
                yield make_batch([examples[index] for index in batches[number]]), after
            cursor = Cursor(cursor.epoch + 1)
