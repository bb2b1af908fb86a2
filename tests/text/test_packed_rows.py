"""Rows of tokens: what is foreseen, from what, how often; and that a training can go on anywhere."""

from collections import Counter
from itertools import islice, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from saccade.base.shuffling import Cursor
from saccade.text import END, PAD, START
from saccade.text.packed_rows import (
    ROW_ORDERS,
    PackedRows,
    RandomRows,
    RowOrder,
    Rows,
    context_lengths,
    more_starts,
    validation_rows,
)


def stream_of(lengths: list[int]) -> np.ndarray:
    """Documents of so many tokens, each of which is another one."""
    tokens, last = list[int](), 3
    for length in lengths:
        tokens += [START, *range(last + 1, last + 1 + length), END]
        last += length
    return np.array(tokens, dtype=np.uint16)


def one_epoch(rows: PackedRows | RandomRows, epoch: int = 0) -> list[Rows]:
    found: list[Rows] = []
    for batch, cursor in rows.stream(Cursor(epoch)):
        if cursor.epoch != epoch:
            break
        found.append(batch)
    return found


def expect_next_tokens(tokens: np.ndarray, inputs: list[int], targets: list[int]) -> None:
    """A row is one stretch of the stream, and then padding; each target follows its input there."""
    text = tokens.tolist()
    length = len(inputs) - inputs.count(PAD)  # which no text has
    assert inputs[length:] == targets[length:] == [PAD] * (len(inputs) - length)
    begins = [first for first in range(len(text) - length) if text[first : first + length] == inputs[:length]]
    following = [[PAD if number == START else number for number in text[n + 1 : n + 1 + length]] for n in begins]
    assert targets[:length] in following


LENGTHS = st.lists(st.integers(0, 12), min_size=1, max_size=6)
SIZES = {"context": st.integers(2, 9), "batch_size": st.integers(1, 5)}


def wanted_targets(tokens: np.ndarray) -> Counter[int]:
    return Counter(number for number in tokens.tolist() if number != START)


@given(lengths=LENGTHS, **SIZES, seed=st.integers(0, 3), epoch=st.integers(0, 3))
def test_every_token_is_a_target_once_an_epoch(
    lengths: list[int], context: int, batch_size: int, seed: int, epoch: int
) -> None:
    tokens = stream_of(lengths)
    batches = one_epoch(PackedRows(tokens, context=context, batch_size=batch_size, seed=seed), epoch)
    found = Counter(number for batch in batches for number in batch.targets.flatten().tolist())
    padding = found.pop(PAD, 0)
    assert found == wanted_targets(tokens)
    for batch in batches:
        assert batch.inputs.shape == batch.targets.shape == (len(batch.inputs), context)
        assert batch.inputs.dtype == batch.targets.dtype == torch.int64
        assert batch.tokens == int((batch.targets != PAD).sum()) > 0
        for inputs, targets in zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True):
            expect_next_tokens(tokens, inputs, targets)
    sizes = {len(batch.inputs) for batch in batches}
    assert max(sizes) <= batch_size
    assert max(sizes) - min(sizes) <= 1
    # only the first and the last row are short, and START is never a target
    assert padding <= 2 * (context - 1) + len(lengths) - 1


def test_rows_of_an_epoch_worked_by_hand() -> None:
    tokens = stream_of([3, 3])  # <s> 4 5 6 </s> <s> 7 8 9 </s>
    rows = PackedRows(tokens, context=3, batch_size=9, seed=0)
    (batch,) = one_epoch(rows)
    (spans,) = rows.spans(Cursor())
    assert sorted(spans) in (
        [(0, 1), (1, 4), (4, 7), (7, 9)],
        [(0, 2), (2, 5), (5, 8), (8, 9)],
        [(0, 3), (3, 6), (6, 9)],
    )
    by_first = {first: row for row, (first, _) in enumerate(spans)}
    seen = {}
    for first, row in by_first.items():
        seen[first] = (batch.inputs[row].tolist(), batch.targets[row].tolist())
    whole = {
        1: {0: ([2, 0, 0], [4, 0, 0]), 1: ([4, 5, 6], [5, 6, 3]), 4: ([3, 2, 7], [0, 7, 8]), 7: ([8, 9, 0], [9, 3, 0])},
        2: {0: ([2, 4, 0], [4, 5, 0]), 2: ([5, 6, 3], [6, 3, 0]), 5: ([2, 7, 8], [7, 8, 9]), 8: ([9, 0, 0], [3, 0, 0])},
        3: {0: ([2, 4, 5], [4, 5, 6]), 3: ([6, 3, 2], [3, 0, 7]), 6: ([7, 8, 9], [8, 9, 3])},
    }
    assert seen == whole[min(first for first in by_first if first)]


def test_rows_begin_elsewhere_each_epoch() -> None:
    rows = PackedRows(stream_of([1000]), context=7, batch_size=4, seed=3)
    firsts = [min(first for spans in rows.spans(Cursor(epoch)) for first, _ in spans if first) for epoch in range(40)]
    assert set(firsts) == set(range(1, 8))
    orders = {tuple(first for spans in rows.spans(Cursor(epoch)) for first, _ in spans) for epoch in range(40)}
    assert len(orders) == 40
    other = PackedRows(rows.tokens, context=7, batch_size=4, seed=4)
    assert list(other.spans(Cursor())) != list(rows.spans(Cursor()))


@given(lengths=LENGTHS, **SIZES, seed=st.integers(0, 3), steps=st.integers(0, 9), order=st.sampled_from([*ROW_ORDERS]))
def test_a_stream_goes_on_from_any_cursor(
    lengths: list[int], context: int, batch_size: int, seed: int, steps: int, order: str
) -> None:
    tokens = stream_of([context, *lengths])
    kind = ROW_ORDERS["packed" if order == "packed" else "random"]
    whole = list(islice(kind(tokens, context=context, batch_size=batch_size, seed=seed).stream(Cursor()), 12))
    cursor = whole[steps - 1][1] if steps else Cursor()
    rest = kind(tokens, context=context, batch_size=batch_size, seed=seed).stream(Cursor(*cursor))
    for (batch, after), (again, after_again) in zip(whole[steps:], rest, strict=False):
        assert after == after_again
        assert torch.equal(batch.inputs, again.inputs)
        assert torch.equal(batch.targets, again.targets)
        assert batch.tokens == again.tokens
    assert len({cursor for _, cursor in whole}) == len(whole)


def test_random_rows_are_full_and_begin_anywhere() -> None:
    tokens = stream_of([30])
    rows = RandomRows(tokens, context=5, batch_size=4, seed=0)
    firsts: Counter[int] = Counter()
    for batch, _ in islice(rows.stream(Cursor()), 500):
        assert batch.inputs.shape == (4, 5)
        assert batch.tokens == 20
        for inputs, targets in zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True):
            assert inputs[1:] == targets[:-1]
            expect_next_tokens(tokens, inputs, targets)
        firsts.update(batch.inputs[:, 0].tolist())
    assert set(firsts) == set(tokens.tolist()[:27])  # the last has END as its last target
    assert max(firsts.values()) < 2 * min(firsts.values())
    assert len(one_epoch(rows)) == -(-31 // 20)
    assert len({tuple(batch.inputs.flatten().tolist()) for epoch in range(9) for batch in one_epoch(rows, epoch)}) == 18


def test_a_random_row_of_all_of_the_text() -> None:
    tokens = stream_of([2])
    (batch,) = one_epoch(RandomRows(tokens, context=3, batch_size=1, seed=0))
    assert (batch.inputs.tolist(), batch.targets.tolist()) == ([[2, 4, 5]], [[4, 5, 3]])
    with pytest.raises(ValueError, match="tokens: found 4, wanted more than the context of 4"):
        RandomRows(tokens, context=4, batch_size=1, seed=0)


@given(lengths=LENGTHS, **SIZES, stride=st.integers(1, 9))
def test_every_token_is_validated_once_with_the_context_that_is_said(
    lengths: list[int], context: int, batch_size: int, stride: int
) -> None:
    stride = min(stride, context)
    tokens = stream_of(lengths)
    for chosen in (None, stride):
        batches = list(validation_rows(tokens, context=context, batch_size=batch_size, stride=chosen))
        targets = [number for batch in batches for number in batch.targets.flatten().tolist() if number != PAD]
        assert targets == [number for number in tokens.tolist() if number != START]  # in their order
        assert sum(batch.tokens for batch in batches) == len(targets)
        assert all(len(batch.inputs) == batch_size for batch in batches[:-1])
        step = context if chosen is None else chosen
        position = 0  # of the next target in the stream
        for batch in batches:
            for inputs, row, lengths_of in zip(
                batch.inputs.tolist(), batch.targets.tolist(), context_lengths(batch.targets).tolist(), strict=True
            ):
                for column, (target, length) in enumerate(zip(row, lengths_of, strict=True)):
                    assert (length > 0) == (target != PAD)
                    if target == PAD:
                        continue
                    position += 1 + (tokens[position + 1] == START)
                    assert tokens[position] == target
                    assert inputs[column - length + 1 : column + 1] == tokens[position - length : position].tolist()
                    assert length == column + 1
                    assert position <= context or length > context - step
        assert position == len(tokens) - 1


def test_windows_worked_by_hand() -> None:
    tokens = stream_of([7])  # <s> 4 ... 10 </s>: 8 targets
    (batch,) = validation_rows(tokens, context=4, batch_size=9, stride=2)
    assert batch.inputs.tolist() == [[2, 4, 5, 6], [5, 6, 7, 8], [7, 8, 9, 10]]
    assert batch.targets.tolist() == [[4, 5, 6, 7], [0, 0, 8, 9], [0, 0, 10, 3]]
    assert context_lengths(batch.targets).tolist() == [[1, 2, 3, 4], [0, 0, 3, 4], [0, 0, 3, 4]]
    plain, rest = validation_rows(tokens[:-1], context=4, batch_size=1)
    assert plain.targets.tolist() == [[4, 5, 6, 7]]
    assert (rest.inputs.tolist(), rest.targets.tolist()) == ([[7, 8, 9, 0]], [[8, 9, 10, 0]])
    assert [batch.tokens for batch in (plain, rest)] == [4, 3]


def test_a_stride_of_one_gives_each_token_all_the_context_there_is() -> None:
    tokens = stream_of([20])
    lengths = [
        length
        for batch in validation_rows(tokens, context=6, batch_size=3, stride=1)
        for length in context_lengths(batch.targets).flatten().tolist()
        if length
    ]
    assert lengths == [1, 2, 3, 4, 5, *[6] * 16]


@pytest.mark.parametrize("stride", [0, 5])
def test_strides_that_leave_something_out_are_refused(stride: int) -> None:
    with pytest.raises(ValueError, match=f"stride: found {stride}, wanted 1 to the context of 4"):
        next(validation_rows(stream_of([9]), context=4, batch_size=1, stride=stride))


def test_what_is_too_short_is_refused() -> None:
    for kind in ROW_ORDERS.values():
        with pytest.raises(ValueError, match="context: found 1, wanted at least 2"):
            kind(stream_of([9]), context=1, batch_size=1, seed=0)
        with pytest.raises(ValueError, match="tokens: found 1, wanted"):
            kind(stream_of([9])[:1], context=2, batch_size=1, seed=0)


def test_batches_of_a_large_text_are_cut_evenly() -> None:
    rows = PackedRows(stream_of([10_000]), context=16, batch_size=100, seed=0)
    sizes = [len(spans) for spans in rows.spans(Cursor())]
    assert sum(sizes) in (626, 627)
    assert len(sizes) == 7
    assert max(sizes) - min(sizes) <= 1
    firsts = sorted(first for spans in rows.spans(Cursor()) for first, _ in spans)
    assert {after - before for before, after in pairwise(firsts[1:])} == {16}


@pytest.mark.parametrize("order", list(ROW_ORDERS))
def test_starts_are_seen_where_documents_are_few(order: RowOrder) -> None:
    """One row in 32 has one, and all else is as it was."""
    for lengths, most, least in (([40_000], 1 / 24, 1 / 42), ([62] * 600, 0.0, 0.0)):
        tokens = stream_of([length % 60_000 for length in lengths])
        options = {"context": 16, "batch_size": 8, "seed": 2}
        plain, rows = ROW_ORDERS[order](tokens, **options), ROW_ORDERS[order](tokens, **options, documents=len(lengths))
        changed = total = 0
        for (one, _), (other, _) in islice(zip(plain.stream(Cursor()), rows.stream(Cursor()), strict=True), 600):
            assert torch.equal(one.targets, other.targets)
            assert torch.equal(one.inputs[:, 1:], other.inputs[:, 1:])
            different = one.inputs[:, 0] != other.inputs[:, 0]
            assert set(other.inputs[different, 0].tolist()) <= {START}
            changed += int(different.sum())
            total += len(different)
        assert least <= changed / total <= most
    assert [more_starts(share) for share in (0.0, 1 / 64, 1 / 32, 2.0)] == [1 / 32, 1 / 64, 0, 0]
