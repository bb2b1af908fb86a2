"""Accuracy, macro F1 and the table of confusions, against worked values and formulas label by label."""

import random

import pytest

from saccade.tasks.text_classification.metrics import accuracy, confusion, f1_of_labels, macro_f1


def f1(wanted: list[int], found: list[int], label: int) -> float:
    """2 · precision · recall / (precision + recall)."""
    right = sum(one == other == label for one, other in zip(wanted, found, strict=True))
    if not right:
        return 0.0
    precision, recall = right / found.count(label), right / wanted.count(label)
    return 100 * 2 * precision * recall / (precision + recall)


def test_worked_values() -> None:
    table = confusion([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2], labels=3)
    assert table.tolist() == [[2, 1, 0], [0, 1, 1], [0, 0, 1]]
    assert accuracy(table) == pytest.approx(100 * 4 / 6)
    assert f1_of_labels(table).tolist() == pytest.approx([80.0, 50.0, 100 * 2 / 3])
    assert macro_f1(table) == pytest.approx((80 + 50 + 200 / 3) / 3)


def test_against_precision_and_recall() -> None:
    chance = random.Random(0)
    for _ in range(20):
        wanted, found = (chance.choices(range(5), k=31) for _ in range(2))
        table = confusion(wanted, found, labels=5)
        each = [f1(wanted, found, label) for label in range(5)]
        assert f1_of_labels(table).tolist() == pytest.approx(each)
        there = [value for label, value in enumerate(each) if label in {*wanted, *found}]
        assert macro_f1(table) == pytest.approx(sum(there) / len(there))


def test_a_label_that_nobody_has_does_not_count() -> None:
    table = confusion([0, 0], [0, 0], labels=3)
    assert (accuracy(table), macro_f1(table)) == (100, 100)
    assert f1_of_labels(table).tolist() == [100, 0, 0]
