"""Beam search on a table: against all its sentences, and a greedy walk and a beam in plain lists."""

import math
from collections.abc import Iterator

import pytest

from saccade.show import Bars, Table, Text, make_lesson
from saccade.show.topics import beam
from saccade.show.topics.beam import BEAM, DRAWS, MANY, NEXT


def sentences(written: str = "", probability: float = 1.0) -> Iterator[tuple[str, float]]:
    """All that can be written from here on, with its probability."""
    if written not in NEXT:
        yield written, probability
    for word, likely in NEXT.get(written, {}).items():
        yield from sentences(f"{written} {word}".strip(), probability * likely)


ALL = dict(sentences())


def test_the_table_is_one_of_probabilities_that_all_can_be_reached() -> None:
    assert all(math.isclose(sum(following.values()), 1) for following in NEXT.values())
    assert sum(ALL.values()) == pytest.approx(1)
    beginnings = {" ".join(text.split()[:count]) for text in ALL for count in range(len(text.split()))}
    assert set(NEXT) == beginnings
    assert len(ALL) < MANY


def test_greedy_takes_the_likeliest_word_each_time() -> None:
    written, kept = "", []
    probability = 1.0
    while written in NEXT:
        word, likely = max(NEXT[written].items(), key=lambda item: item[1])
        written, probability = f"{written} {word}".strip(), probability * likely
        kept.append([f"{written} {probability:.2f}"])
    (found,) = beam.search(1)
    assert beam.sentence(found) == written != max(ALL, key=lambda text: ALL[text])
    assert beam.probability(found) == pytest.approx(ALL[written])
    assert beam.kept_by(1) == [*kept, [f"{written}. {probability:.2f}"]]


def test_a_beam_of_two_finds_the_likeliest_of_all() -> None:
    (found,) = beam.search(BEAM)
    assert beam.sentence(found) == max(ALL, key=lambda text: ALL[text])
    active = {"": 1.0}
    for step in beam.kept_by(BEAM)[:2]:  # nothing ends before
        wider = {
            f"{text} {word}".strip(): so_far * likely
            for text, so_far in active.items()
            for word, likely in NEXT[text].items()
        }
        active = dict(sorted(wider.items(), key=lambda item: -item[1])[:BEAM])
        assert step == [f"{text} {so_far:.2f}" for text, so_far in active.items()]


def test_a_beam_as_wide_as_the_table_finds_everything() -> None:
    found = beam.search(MANY, best=MANY)
    assert {beam.sentence(one): beam.probability(one) for one in found} == pytest.approx(ALL)
    for one in found:
        length = len(beam.sentence(one).split()) + 1  # its end is counted
        assert one.score == pytest.approx(math.log(ALL[beam.sentence(one)]) / ((5 + length) / 6), rel=1e-5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_draws_come_as_often_as_they_are_likely(seed: int) -> None:
    counts = beam.draws(seed)
    assert sum(counts.values()) == DRAWS
    for text, probability in ALL.items():
        assert abs(counts.get(text, 0) - DRAWS * probability) < 4 * math.sqrt(DRAWS * probability)


def test_the_lesson_shows_what_was_found() -> None:
    blocks = make_lesson("beam", seed=2).blocks
    (bars,) = (block for block in blocks if isinstance(block, Bars))
    assert dict(zip(bars.labels, bars.values, strict=True)) == pytest.approx(ALL)
    assert list(bars.values) == sorted(bars.values, reverse=True)
    _, ranked = (block for block in blocks if isinstance(block, Table))
    scores = [float(row[3]) for row in ranked.rows]
    assert scores == sorted(scores, reverse=True)
    (story,) = (block.text for block in blocks if isinstance(block, Text) and "Greedy search" in block.text)
    assert '"there is rain" at 0.12' in story
    assert '"it rains" at 0.32' in story
