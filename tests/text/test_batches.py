"""Batches: all examples once, little padding, and the same order from the same cursor."""

import random
from itertools import islice

import torch
from hypothesis import given
from hypothesis import strategies as st

from saccade.base.shuffling import Cursor
from saccade.text import END, PAD, START, Batches, Example, make_batch

lengths = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80)


def examples_of(lengths: list[tuple[int, int]]) -> list[Example]:
    return [
        Example([4 + n] * (source - 1) + [END], [4 + n] * (target - 1) + [END])
        for n, (source, target) in enumerate(lengths)
    ]


@given(lengths, st.integers(30, 200), st.integers(0, 5), st.integers(0, 3))
def test_every_example_once_within_the_budget(sizes: list[tuple[int, int]], tokens: int, seed: int, epoch: int) -> None:
    examples = examples_of(sizes)
    batches = Batches(examples, tokens=tokens, seed=seed).order(epoch, examples)
    assert sorted(index for batch in batches for index in batch) == list(range(len(sizes)))
    for batch in batches:
        assert len(batch) * max(max(sizes[index]) for index in batch) <= tokens


@given(lengths, st.integers(0, 200))
def test_a_cursor_goes_on_where_it_was(sizes: list[tuple[int, int]], position: int) -> None:
    batches = Batches(examples_of(sizes), tokens=60, seed=1)
    position %= 20
    straight = list(islice(batches.stream(Cursor()), position + 5))
    cursor = straight[position - 1][1] if position else Cursor()
    for (batch, after), (wanted, wanted_after) in zip(
        islice(batches.stream(cursor), 5), straight[position:], strict=True
    ):
        assert after == wanted_after
        assert torch.equal(batch.source, wanted.source)
        assert torch.equal(batch.target, wanted.target)


def test_epochs_and_seeds_differ() -> None:
    examples = examples_of([(3, 3)] * 40)
    first = Batches(examples, tokens=12, seed=0)
    order = first.order(0, examples)
    assert order == Batches(examples, tokens=12, seed=0).order(0, examples)
    assert order != first.order(1, examples)
    assert order != Batches(examples, tokens=12, seed=1).order(0, examples)


def test_what_a_batch_holds() -> None:
    batch = make_batch([Example([5, 6, END], [7, END]), Example([8, END], [9, 10, 11, END])])
    assert batch.source.tolist() == [[5, 6, END], [8, END, PAD]]
    assert batch.source_lengths.tolist() == [3, 2]
    assert batch.previous.tolist() == [[START, 7, PAD, PAD], [START, 9, 10, 11]]
    assert batch.target.tolist() == [[7, END, PAD, PAD], [9, 10, 11, END]]
    assert batch.tokens == 6


def test_little_is_padding() -> None:
    """On either side, for pairs whose lengths go together only roughly; less than if only one side were looked at."""
    rng = random.Random(0)
    examples: list[Example] = []
    for _ in range(20_000):
        length = min(max(round(rng.gauss(14, 5)), 4), 40)
        examples.append(Example([4] * length, [4] * max(2, length + round(rng.gauss(0, 3)))))
    batches = list(Batches(examples, tokens=4096, seed=0).one_epoch())
    real_source = sum(int(batch.source_lengths.sum()) for batch in batches)
    assert real_source / sum(batch.source.numel() for batch in batches) > 0.93
    assert sum(batch.tokens for batch in batches) / sum(batch.target.numel() for batch in batches) > 0.93
