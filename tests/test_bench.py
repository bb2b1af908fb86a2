"""The races: that they start, take turns, and count what they should."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench import race as races
from bench.race import Case, Side, job, race
from bench.sides.turns import Pair, bucketed_batches, random_batches

PAIRS: list[Pair] = [([4] * length + [3], [5] * (length % 7 + 2) + [3]) for length in range(3, 20) for _ in range(4)]


def test_sides_take_turns_at_the_same_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "PEERS", Path(sys.executable))  # plain torch needs no peer
    (tmp_path / "pairs.json").write_text(json.dumps(PAIRS))
    small = {"pairs": str(tmp_path / "pairs.json"), "threads": 1, "vocabulary": 20, "batch_tokens": 64}
    case = Case("small", job(task="train", turn_tokens=60, **small), (Side("saccade"), Side("plain", heap_kept=True)))
    line = race(case, turns=2)
    assert line["rate"].keys() == line["megabytes"].keys() == {"saccade", "plain, heap kept"}
    assert line["times_as_fast"]["saccade"] == 1
    assert all(low <= line["rate"][name] <= high for name, (low, high) in line["range"].items())
    assert all(megabytes > 50 for megabytes in line["megabytes"].values())


def test_a_side_that_fails_is_named(tmp_path: Path) -> None:
    case = Case("bad", job(task="train", pairs=str(tmp_path / "nowhere.json"), threads=1), (Side("saccade"),))
    with pytest.raises(races.InputError, match=r"bench\.sides\.saccade.*ended with code 1"):
        race(case, turns=1)


@pytest.mark.parametrize("batches", [random_batches, bucketed_batches])
def test_every_pair_comes_once_an_epoch_within_the_budget(batches: Callable[..., Iterator[list[Pair]]]) -> None:
    stream, seen = batches(PAIRS, 64), 0
    while seen < len(PAIRS):
        batch = next(stream)
        seen += len(batch)
        assert len(batch) * max(len(side) for pair in batch for side in pair) <= 64
    assert seen == len(PAIRS)
