"""CTC against every path written out, and against torch's gradient."""

import math
from itertools import product

import pytest
import torch
import torch.nn.functional as F

from saccade.nets import best_path, occupancy

COLUMNS, SIZE = 6, 4
TEXTS = [[1], [1, 2], [1, 1], [3, 1, 3], [2, 2, 2], []]


def letters_of(path: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """What a path writes, and for each column which letter it belongs to (-1: none)."""
    letters: list[int] = []
    belongs: list[int] = []
    before = 0
    for symbol in path:
        if symbol not in (0, before):
            letters.append(symbol)
        belongs.append(len(letters) - 1 if symbol else -1)
        before = symbol
    return letters, belongs


# Cells (column, symbol) that have no probability at all.
IMPOSSIBLE = [[], [(0, 0)], [(2, 1), (2, 2)], [(0, 1), (1, 0), (5, 0)]]


@pytest.mark.parametrize("impossible", IMPOSSIBLE, ids=str)
@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_the_occupancy_is_the_share_of_all_paths(text: list[int], impossible: list[tuple[int, int]]):
    torch.manual_seed(len(text))
    logits = torch.randn(COLUMNS, SIZE, dtype=torch.double)
    for column, symbol in impossible:
        logits[column, symbol] = -torch.inf
    log_probs = logits.log_softmax(-1)
    total, wanted = 0.0, torch.zeros(len(text), COLUMNS, dtype=torch.double)
    for path in product(range(SIZE), repeat=COLUMNS):
        letters, belongs = letters_of(path)
        if letters == text:
            share = math.exp(sum(float(log_probs[column, symbol]) for column, symbol in enumerate(path)))
            total += share
            for column, letter in enumerate(belongs):
                if letter >= 0:
                    wanted[letter, column] += share
    torch.testing.assert_close(occupancy(log_probs, text, blank=0), wanted / total if total else wanted)


@pytest.mark.parametrize("text", TEXTS[:-1], ids=str)
def test_the_occupancy_is_the_gradient_that_hard_attention_can_only_guess(text: list[int]):
    torch.manual_seed(7)
    logits = torch.randn(COLUMNS, SIZE, dtype=torch.double, requires_grad=True)
    log_probs = logits.log_softmax(-1)
    lengths = torch.tensor([COLUMNS]), torch.tensor([len(text)])
    F.ctc_loss(log_probs[:, None], torch.tensor([text]), *lengths, blank=0, reduction="sum").backward()
    assert logits.grad is not None
    taken = log_probs.exp().detach() - logits.grad  # of each symbol at each column: d loss / d logit = p - γ
    found = torch.zeros_like(taken)
    for letter, columns in zip(text, occupancy(log_probs.detach(), text, blank=0), strict=True):
        found[:, letter] += columns
    torch.testing.assert_close(found[:, 1:], taken[:, 1:])


def test_a_text_that_has_no_room_is_nowhere():
    log_probs = torch.zeros(2, SIZE).log_softmax(-1)
    assert not occupancy(log_probs, [1, 1], blank=0).any()  # they need a blank between them


def test_a_text_of_probability_zero_is_nowhere():
    log_probs = torch.zeros(COLUMNS, SIZE).index_fill(1, torch.tensor([2]), -torch.inf).log_softmax(-1)
    assert occupancy(log_probs, [1, 2], blank=0).equal(torch.zeros(2, COLUMNS))
    assert occupancy(log_probs, [1, 3], blank=0).any()


def test_the_best_path_leaves_out_blanks_and_repeats():
    symbols = [0, 1, 1, 0, 1, 2, 2, 3, 0, 0, 3]
    log_probs = F.one_hot(torch.tensor(symbols), SIZE).float()
    assert best_path(log_probs, blank=0) == ([1, 1, 2, 3, 3], [1, 4, 5, 7, 10])
