"""BPE-dropout: words cut otherwise, by the same pieces."""

import random
from collections import Counter
from itertools import islice

import pytest

from saccade.base.errors import InputError
from saccade.base.settings import check_settings
from saccade.base.shuffling import Cursor
from saccade.tasks.translation.dates import Dates
from saccade.text import END, Batches, Example, VocabularySettings, learn_vocabularies
from saccade.text.vocabularies.bpe_dropout import DroppedMerges, merge

PAIRS = [Dates(1).pair(index) for index in range(400)]
PIECES = {"ab": -1.0, "bc": -2.0, "abc": -3.0}


def test_merges_by_hand() -> None:
    assert merge("abc", PIECES, 0.0, random.Random(0)) == ["abc"]
    assert merge("abcbc", PIECES, 0.0, random.Random(0)) == ["abc", "bc"]
    assert merge("cab", PIECES, 0.0, random.Random(0)) == ["c", "ab"]
    found = Counter(tuple(merge("abc", PIECES, 0.5, random.Random(seed))) for seed in range(4000))
    # "ab" fails half of the time, and then "bc" may come; what is merged goes on with "abc", which may fail again
    assert set(found) == {("a", "b", "c"), ("ab", "c"), ("a", "bc"), ("abc",)}
    assert found["a", "b", "c"] / 4000 == pytest.approx(1 / 4, abs=0.03)  # both fail at once
    assert found["ab", "c"] / 4000 == pytest.approx(1 / 4, abs=0.03)
    assert found["a", "bc"] / 4000 == pytest.approx(1 / 8, abs=0.03)


def test_without_failures_words_are_cut_as_sentencepiece_cuts_them() -> None:
    vocabulary, _ = learn_vocabularies(PAIRS, VocabularySettings(size=300, joint=True))
    always = vocabulary.dropped_merges(rate=0.0, seed=0)  # pyright: ignore[reportAttributeAccessIssue]
    for pair in PAIRS:
        assert vocabulary.sample(pair.source, always, random.Random(0)) == vocabulary.encode(pair.source).ids  # pyright: ignore[reportAttributeAccessIssue]


def test_failures_change_the_pieces_and_not_the_text() -> None:
    vocabularies = learn_vocabularies(PAIRS, VocabularySettings(size=300, joint=True))
    sample = vocabularies.sampler(rate=0.2, seed=0)
    rng = random.Random(0)
    longer = 0
    for pair in PAIRS:
        for text, ids in zip(pair, sample(pair, rng), strict=True):
            assert ids[-1] == END
            assert vocabularies.source.text(ids[:-1]) == text
            longer += len(ids) - len(vocabularies.source.encode(text).ids)
    assert longer > len(PAIRS)
    assert len({tuple(sample(PAIRS[0], rng)[0]) for _ in range(50)}) > 5


def test_the_ways_to_cut_a_word_do_not_depend_on_what_came_before() -> None:
    first, second = (DroppedMerges(PIECES, rate=0.4, seed=3) for _ in range(2))
    first.cut("cab", random.Random(9))
    chosen = [first.cut("abcabc", random.Random(seed)) for seed in range(20)]
    assert chosen == [second.cut("abcabc", random.Random(seed)) for seed in range(20)]


def test_a_cursor_goes_on_where_it_was_though_every_epoch_is_cut_otherwise() -> None:
    sample = learn_vocabularies(PAIRS, VocabularySettings(size=300, joint=True)).sampler(rate=0.1, seed=0)

    def examples(epoch: int) -> list[Example]:
        rng = random.Random(epoch)
        return [Example(*sample(pair, rng)) for pair in PAIRS]

    batches = Batches(examples, tokens=2000, seed=0)
    straight = list(islice(batches.stream(Cursor()), 20))
    assert straight[-1][1].epoch >= 1
    for index in (3, 11, 19):
        again = next(batches.stream(straight[index - 1][1]))
        assert again[1] == straight[index][1]
        assert again[0].source.equal(straight[index][0].source)


def test_only_bpe_has_merges_to_drop() -> None:
    for settings in ({"kind": "characters"}, {"method": "unigram"}):
        with pytest.raises(InputError, match="bpe_dropout: wanted 0, or kind: subwords with method: bpe"):
            check_settings(VocabularySettings, {"bpe_dropout": 0.1, **settings}, where="x")
