"""The measures of heads: by hand, and against one number at a time."""

import math

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.look import Reading, find_landmarks, measure_heads

TOKENS = 11


def looking_at(places: np.ndarray) -> np.ndarray:
    """One head that looks at these places alone, and at itself where there is none: `[1, 1, T, T]`."""
    tokens = np.arange(len(places))
    weights = np.zeros((1, 1, len(places), len(places)))
    weights[0, 0, tokens, np.where(places >= 0, places, tokens)] = 1.0
    return weights


def random_weights(seed: int, *, layers: int = 2, heads: int = 3, visible: np.ndarray | None = None) -> np.ndarray:
    weights = np.random.default_rng(seed).random((layers, heads, TOKENS, TOKENS))
    weights *= np.tril(np.ones((TOKENS, TOKENS))) if visible is None else visible
    return weights / np.maximum(weights.sum(-1, keepdims=True), 1e-9)


def test_a_head_that_looks_at_word_starts_by_hand() -> None:
    """`ab cde`: b looks at a, d and e at c, all else at itself.

    Of the rows that have a choice (all but the first), 2 of 5 look 0 back, 2 of 5 look 1 back, and 1 of the 4 that can
    looks 2 back. The places are 1, 1 and 2 back: by chance (2/5 + 2/5 + 1/4) / 3.
    """
    landmarks = find_landmarks(list("ab cde"))
    found = measure_heads([Reading(looking_at(landmarks["word-start"]), landmarks)]).of("word-start")
    assert (found.rows, found.share.item()) == (3, 1.0)
    assert found.chance.item() == pytest.approx((2 / 5 + 2 / 5 + 1 / 4) / 3)
    assert found.ratio.item() == pytest.approx(1 / 0.35)
    assert found.best == (0, 0)


def test_a_head_that_goes_by_distance_alone_is_at_chance() -> None:
    """Of the starts of words it sees many, and no more than it would of any other place."""
    landmarks = find_landmarks(list("ab cd\n(efg) hi"))
    previous = np.arange(14) - 1
    found = measure_heads([Reading(looking_at(previous), landmarks)])
    assert found.of("word-start").share.item() == pytest.approx(4 / 5)
    for name in ("word-start", "word-before", "line-end", "bracket"):
        assert found.of(name).ratio.item() == pytest.approx(1)
    even = np.mean([1 / (t + 1) for t in range(1, 14)])
    assert found.of("previous").ratio.item() == pytest.approx(1 / even)
    assert (found.distance.item(), found.entropy.item()) == (1.0, 0.0)


@pytest.mark.parametrize("window", [None, 4])
def test_one_number_at_a_time(window: int | None) -> None:
    """Two texts, of which one is shorter; with a window, a token sees only the last few before it, and not itself."""
    rng = np.random.default_rng(7)
    back = np.arange(TOKENS)[:, None] - np.arange(TOKENS)
    visible = back >= 0 if window is None else (back > 0) & (back <= window)
    readings: list[Reading] = []
    for seed, tokens in ((1, TOKENS), (2, 7)):
        weights = random_weights(seed, visible=visible)[:, :, :tokens, :tokens]
        places = np.array([rng.integers(-1, t) if t else -1 for t in range(tokens)])
        readings.append(Reading(weights, {"mark": places}, None if window is None else visible[:tokens, :tokens]))
    found = measure_heads(readings)
    seen = [{s for s in range(TOKENS) if visible[t, s]} for t in range(TOKENS)]
    chooses = [(one, t) for one in readings for t in range(one.weights.shape[2]) if len(seen[t]) > 1]
    for layer, head in np.ndindex(2, 3):

        def profile(distance: int, layer: int = layer, head: int = head) -> float:
            far = [one.weights[layer, head, t, t - distance] for one, t in chooses if t - distance in seen[t]]
            return float(np.mean(far))

        for name in found.by_name:
            aims = {"itself": lambda _, t: t, "previous": lambda _, t: t - 1, "first": lambda _, t: 0 if t else -1}
            aim = aims.get(name, lambda one, t: one.landmarks["mark"][t])
            rows = [(one, t, aim(one, t)) for one, t in chooses if aim(one, t) in seen[t]]
            share = np.mean([one.weights[layer, head, t, s] for one, t, s in rows])
            chance = np.mean([profile(t - s) if name == "mark" else 1 / len(seen[t]) for _, t, s in rows])
            assert found.of(name).rows == len(rows)
            assert found.of(name).share[layer, head] == pytest.approx(share)
            assert found.of(name).chance[layer, head] == pytest.approx(chance)
        looked = [(one.weights[layer, head, t, s], t - s) for one, t in chooses for s in seen[t]]
        distance = sum(weight * far for weight, far in looked) / len(chooses)
        entropy = -sum(weight * math.log2(weight) for weight, _ in looked if weight > 0) / len(chooses)
        assert found.distance[layer, head] == pytest.approx(distance)
        assert found.entropy[layer, head] == pytest.approx(entropy)
    assert found.even_entropy == pytest.approx(np.mean([math.log2(len(seen[t])) for _, t in chooses]))
    assert found.even_distance == pytest.approx(np.mean([np.mean([t - s for s in seen[t]]) for _, t in chooses]))
    assert ("itself" in found.by_name) == (window is None)


def test_the_best_is_farthest_above_chance() -> None:
    landmarks = find_landmarks(list("abc def ghi"))
    weights = random_weights(3)
    weights[1, 2] = looking_at(landmarks["word-start"])[0, 0]
    found = measure_heads([Reading(weights, landmarks)])
    (best,) = (one for one in found.best() if one["measure"] == "word-start")
    assert (best["layer"], best["head"], best["share"]) == (2, 3, 1.0)
    record = found.record()
    assert np.shape(record["measures"]["word-start"]["share"]) == np.shape(record["entropy"]["mean"]) == (2, 3)
    assert record["best"] == found.best()
    assert "bracket" not in found.by_name
    with pytest.raises(InputError, match="bracket: no token of this text could look at such a place; there are itself"):
        found.of("bracket")


def test_what_is_refused() -> None:
    weights = random_weights(1)
    for given, message in (
        ({"weights": weights[0]}, r"weights: found shape \[3, 11, 11\]"),
        ({"weights": weights[:, :, 1:]}, r"weights: found shape \[2, 3, 10, 11\]"),
        ({"visible": np.ones((2, 2), dtype=bool)}, r"visible: found shape \[2, 2\]"),
        ({"landmarks": {"mark": np.zeros(3, dtype=np.int64)}}, "landmarks: mark: wanted 11 numbers"),
        ({"landmarks": {"mark": np.full(TOKENS, TOKENS)}}, "landmarks: mark: wanted 11 numbers"),
        ({"landmarks": {"first": np.zeros(TOKENS, dtype=np.int64)}}, "landmarks: first: wanted"),
    ):
        with pytest.raises(InputError, match=message):
            Reading(**({"weights": weights} | given))  # pyright: ignore[reportArgumentType]
    for readings in ([], [Reading(np.ones((1, 1, 1, 1)))]):
        with pytest.raises(InputError, match="no token has a choice"):
            measure_heads(readings)
    with pytest.raises(InputError, match="readings: found"):
        measure_heads([Reading(weights), Reading(weights[:1])])
