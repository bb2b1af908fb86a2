"""Problems that ask for a memory: each answer found again from its inputs, by a few lines of plain Python."""

from collections import defaultdict

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.tasks.algorithms.problems import (
    CONTEXT,
    ITEM,
    AlgorithmSettings,
    Episodes,
    best_guesses,
    make_episodes,
    scaled_repeats,
)

KINDS = ("copy", "repeat-copy", "recall", "ngrams", "priority-sort")
SHORTEST = {"recall": 2, "ngrams": CONTEXT + 1}


def settings_for(make: str, **changes: int) -> AlgorithmSettings:
    values = {
        "make": make,
        "bits": 6,
        "min_length": SHORTEST.get(make, 1),
        "max_length": 12,
        "max_repeats": 4,
    } | changes
    return check_settings(AlgorithmSettings, values, where="test")


def answer_of(episodes: Episodes, row: int) -> np.ndarray:
    return episodes.targets[row, episodes.scored]


@pytest.mark.parametrize("make", KINDS)
def test_the_same_seed_gives_the_same_problems(make: str):
    settings = settings_for(make)
    one, same, other = (make_episodes(settings, 4, seed=seed) for seed in ("1", "1", "2"))
    assert (one.inputs == same.inputs).all()
    assert (one.targets == same.targets).all()
    assert one.inputs.shape != other.inputs.shape or (one.inputs != other.inputs).any()
    assert {make_episodes(settings, 1, seed=seed).length for seed in range(200)} == set(
        range(settings.min_length, settings.max_length + 1)
    )


@pytest.mark.parametrize("make", KINDS)
def test_sizes_are_as_the_settings_say(make: str):
    settings = settings_for(make)
    episodes = make_episodes(settings, 3, seed=0, length=9)
    assert (episodes.inputs.shape[2], episodes.targets.shape[2]) == settings.channels()
    assert episodes.inputs.shape[:2] == episodes.targets.shape[:2] == (3, len(episodes.scored))
    assert not episodes.targets[:, ~episodes.scored].any() or make == "ngrams"
    name, first = episodes.phases[-1]
    assert name == "output"
    assert first == np.flatnonzero(episodes.scored)[0]


def test_copy():
    episodes = make_episodes(settings_for("copy"), 5, seed=3, length=7)
    for row in range(5):
        (mark,) = np.flatnonzero(episodes.inputs[row, :, -1])
        assert (answer_of(episodes, row) == episodes.inputs[row, :mark, :-1]).all()
    assert 0.3 < answer_of(episodes, 0).mean() < 0.7


@pytest.mark.parametrize("repeats", [1, 3])
def test_repeat_copy(repeats: int):
    episodes = make_episodes(settings_for("repeat-copy"), 5, seed=3, length=4, repeats=repeats)
    for row in range(5):
        (mark,) = np.flatnonzero(episodes.inputs[row, :, -2])
        assert episodes.inputs[row, mark, -1] == pytest.approx(scaled_repeats(repeats, 4))
        answer = answer_of(episodes, row)
        assert (answer[:-1, :-1] == np.concatenate([episodes.inputs[row, :mark, :6]] * repeats)).all()
        assert answer[:, -1].tolist() == [0.0] * 4 * repeats + [1.0]


def test_who_begins_has_shorter_problems():
    half = [make_episodes(settings_for("recall", max_length=12), 1, seed=seed, share=0.5) for seed in range(100)]
    assert {one.length for one in half} == set(range(2, 8))

    def drawn(share: float) -> tuple[set[int], set[int], set[bool]]:
        made = [make_episodes(settings_for("repeat-copy"), 1, seed=seed, share=share) for seed in range(300)]
        repeats = [int(one.targets.shape[1] - one.length - 2) // one.length for one in made]
        return {one.length for one in made}, set(repeats), {bool(one.scored[-1]) for one in made}

    assert drawn(0.25) == (set(range(1, 8)), {1}, {False})  # first the lengths,
    assert drawn(0.75) == (set(range(1, 13)), {1, 2, 3}, {False})  # then the repeats,
    assert drawn(1.0) == (set(range(1, 13)), {1, 2, 3, 4}, {True})  # and at last the end


def test_repeats_are_seen_with_mean_0_and_variance_1():
    seen = [scaled_repeats(repeats, 10) for repeats in range(1, 11)]
    assert np.mean(seen) == pytest.approx(0)
    assert np.std(seen) == pytest.approx(1)


def test_recall():
    episodes = make_episodes(settings_for("recall"), 8, seed=3, length=5)
    for row in range(8):
        inputs = episodes.inputs[row]
        items = [inputs[first + 1 : first + 1 + ITEM, :6] for first in np.flatnonzero(inputs[:, -2])]
        asking, _ = np.flatnonzero(inputs[:, -1])
        question = inputs[asking + 1 : asking + 1 + ITEM, :6]
        (index,) = (number for number, item in enumerate(items[:-1]) if (item == question).all())
        assert (answer_of(episodes, row) == items[index + 1]).all()


def test_priority_sort():
    episodes = make_episodes(settings_for("priority-sort"), 5, seed=3, length=10)
    for row in range(5):
        vectors = [(inputs[-2], inputs[:6].tolist()) for inputs in episodes.inputs[row, :10]]
        wanted = [vector for _, vector in sorted(vectors, key=lambda pair: -pair[0])][:8]
        assert answer_of(episodes, row).tolist() == wanted


def test_ngrams_and_the_best_that_anybody_can_do():
    episodes = make_episodes(settings_for("ngrams"), 2, seed=3, length=60)
    bits = np.concatenate([episodes.inputs[:, :, 0], episodes.targets[:, -1:, 0]], axis=1).astype(np.int64)
    assert (bits[:, 1:] == episodes.targets[:, :, 0]).all()
    guesses = best_guesses(bits)
    for row in range(2):
        seen: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for step in range(CONTEXT, 60):
            after = seen[tuple(bits[row, step - CONTEXT : step])]
            assert guesses[row, step - CONTEXT] == pytest.approx((sum(after) + 0.5) / (len(after) + 1))
            after.append(int(bits[row, step]))


def test_the_best_guesses_beat_a_coin():
    episodes = make_episodes(settings_for("ngrams", max_length=200), 50, seed=4, length=200)
    bits = np.concatenate([episodes.inputs[:, :, 0], episodes.targets[:, -1:, 0]], axis=1).astype(np.int64)
    right = np.where(bits[:, CONTEXT:] == 1, best_guesses(bits), 1 - best_guesses(bits))
    assert -np.log2(right).mean() < 0.8


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"make": "recall", "min_length": 1}, "at least 2 for recall"),
        ({"make": "copy", "min_length": 9, "max_length": 3}, "wanted at most 3"),
        ({"make": "copy", "bits": 0}, "bits"),
    ],
)
def test_what_cannot_be_made_is_refused(wrong: dict[str, object], message: str):
    with pytest.raises(InputError, match=message):
        check_settings(AlgorithmSettings, wrong, where="recipe")
