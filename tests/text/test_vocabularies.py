"""Vocabularies of every kind: there and back, word by word, and through their files."""

import random
import unicodedata
from pathlib import Path

import pytest
import sentencepiece

from saccade.base.errors import InputError
from saccade.tasks.translation.dates import Dates
from saccade.text import (
    END,
    MASK,
    UNKNOWN,
    Pair,
    Vocabularies,
    VocabularySettings,
    have_vocabularies,
    learn_vocabularies,
    learn_vocabulary,
    load_vocabularies,
    save_vocabularies,
)
from saccade.text.vocabularies.listed import Words
from saccade.text.vocabularies.subwords import Subwords

PAIRS = [Dates(1).pair(index) for index in range(400)]
SETTINGS = [
    VocabularySettings(kind="subwords", method="bpe", size=300, joint=True),
    VocabularySettings(kind="subwords", method="unigram", size=300),
    VocabularySettings(kind="characters"),
    VocabularySettings(kind="words", joint=True),
]
every_kind = pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: f"{settings.kind} {settings.method}")


@every_kind
def test_there_and_back(settings: VocabularySettings) -> None:
    vocabularies = learn_vocabularies(PAIRS, settings)
    assert vocabularies.joint == settings.joint
    for pair in PAIRS:
        for text, vocabulary in zip(pair, vocabularies, strict=True):
            tokens = vocabulary.encode(text)
            assert tokens.ids[-1] == END
            assert all(UNKNOWN < number < len(vocabulary) for number in tokens.ids)
            assert len(tokens.word_of) == len(tokens.ids)
            back, words = vocabulary.decode([*tokens.ids, 7, 8])  # what follows the end does not count
            # sentencepiece brings letters to their plain form (NFKC): º becomes o
            assert back == (unicodedata.normalize("NFKC", text) if settings.kind == "subwords" else text)
            assert words.ids == tokens.ids
            assert words.word_of == tokens.word_of


@every_kind
def test_words_are_as_they_were_written(settings: VocabularySettings) -> None:
    source = learn_vocabularies(PAIRS, settings).source
    text = "le  9 novembre\t2026 ☃!"
    wanted = list("le 9 novembre 2026 ☃!") if settings.kind == "characters" else text.split()
    tokens = source.encode(text)
    assert tokens.words == [*wanted, "</s>"]
    assert tokens.word_of == sorted(tokens.word_of)
    assert set(tokens.word_of) == set(range(len(tokens.words)))
    assert UNKNOWN in tokens.ids  # the snowman


@every_kind
def test_through_files(settings: VocabularySettings, tmp_path: Path) -> None:
    before = learn_vocabularies(PAIRS, settings)
    assert not have_vocabularies(settings, tmp_path)
    save_vocabularies(before, settings, tmp_path)
    assert have_vocabularies(settings, tmp_path)
    after = load_vocabularies(settings, tmp_path)
    assert after.joint == before.joint
    for pair in PAIRS[:50]:
        assert after.source.encode(pair.source) == before.source.encode(pair.source)
        assert after.target.encode(pair.target) == before.target.encode(pair.target)


@every_kind
def test_a_damaged_file_is_named(settings: VocabularySettings, tmp_path: Path) -> None:
    save_vocabularies(learn_vocabularies(PAIRS, settings), settings, tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(b"\xff\x00damaged")
    with pytest.raises(InputError, match="damaged"):
        load_vocabularies(settings, tmp_path)
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        load_vocabularies(settings, tmp_path)


@pytest.mark.parametrize("method", ["bpe", "unigram"])
def test_word_by_word_is_what_sentencepiece_does_with_the_sentence(method: str, tmp_path: Path) -> None:
    settings = VocabularySettings.model_validate({"method": method, "size": 250})
    vocabularies = learn_vocabularies(PAIRS, settings)
    save_vocabularies(vocabularies, settings, tmp_path)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "source.model"))
    texts = [pair.source for pair in PAIRS]
    if method == "bpe":  # a unigram model may break a tie between two cuts of a random word in another way
        letters, rng = "".join(texts), random.Random(3)
        texts += ["".join(rng.choices(letters, k=30)) for _ in range(200)]
    for text in texts:
        assert vocabularies.source.encode(text).ids == [*pieces.encode(text), END]


def test_two_ways_to_type_a_letter_are_one() -> None:
    vocabulary = learn_vocabularies([Pair("é", "x")], VocabularySettings(kind="characters")).source
    assert vocabulary.encode("e\u0301").ids == vocabulary.encode("\u00e9").ids == [4, END]


def test_rare_words_and_a_full_vocabulary() -> None:
    texts = ["b b b a a c", "d a"]
    assert Words.learn(texts, min_frequency=2).entries[4:] == ["a", "b"]
    assert Words.learn(texts, size=5).entries[4:] == ["a"]
    assert Words.learn(texts).entries[4:] == ["a", "b", "c", "d"]


def test_more_pieces_than_the_text_has() -> None:
    assert 4 < len(Subwords.learn(["ab ba"] * 3, size=5000)) < 30


def test_nothing_but_unknown_words() -> None:
    vocabularies = Vocabularies(*(Words.learn(["a"]) for _ in range(2)))
    assert vocabularies.source.encode("x y").ids == [UNKNOWN, UNKNOWN, END]
    assert vocabularies.source.encode("").ids == [END]
    assert vocabularies.target.decode([END])[0] == ""


@every_kind
def test_lower_case_in_and_out_as_if_the_text_had_no_capitals(settings: VocabularySettings, tmp_path: Path) -> None:
    shouted = [Pair(pair.source.title(), pair.target.upper()) for pair in PAIRS]
    small = [Pair(pair.source.lower(), pair.target.lower()) for pair in shouted]
    lower = settings.model_copy(update={"lowercase": True})
    learnt, wanted = learn_vocabularies(shouted, lower), learn_vocabularies(small, settings)
    save_vocabularies(learnt, lower, tmp_path)
    for vocabularies in (learnt, load_vocabularies(lower, tmp_path)):
        for loud, quiet in zip(shouted, small, strict=True):
            assert vocabularies.source.encode(loud.source) == wanted.source.encode(quiet.source)
            assert vocabularies.target.encode(loud.target) == wanted.target.encode(quiet.target)


def test_words_cut_by_failing_merges_are_lower_case_too() -> None:
    settings = VocabularySettings(kind="subwords", size=300, lowercase=True)
    sample = learn_vocabularies(PAIRS, settings).sampler(rate=0.1, seed=1)
    loud = Pair(PAIRS[0].source.upper(), PAIRS[0].target)
    assert sample(loud, random.Random(3)) == sample(PAIRS[0], random.Random(3))


@every_kind
def test_a_mask_has_a_number_of_its_own(settings: VocabularySettings, tmp_path: Path) -> None:
    texts = [pair.source for pair in PAIRS]
    plain, vocabulary = (learn_vocabulary(texts, settings, mask=mask) for mask in (False, True))
    assert (plain.has_mask(), vocabulary.has_mask()) == (False, True)
    text = f"{MASK} {texts[0]} {MASK}"
    tokens = vocabulary.encode(text)
    number = vocabulary.encode(MASK).ids[0]
    assert tokens.ids.count(number) == 2
    assert tokens.words.count(MASK) == 2
    assert vocabulary.decode(tokens.ids) == (text, tokens)
    assert vocabulary.piece(number).strip("▁") == MASK
    both = Vocabularies(vocabulary, vocabulary)
    joint = settings.model_copy(update={"joint": True})
    save_vocabularies(both, joint, tmp_path)
    loaded = load_vocabularies(joint, tmp_path).source
    assert loaded.has_mask()
    assert loaded.encode(text) == tokens
    # Besides, nothing is read otherwise than without it.
    for other in texts[:50]:
        assert [word for word, _ in vocabulary.split(other)] == [word for word, _ in plain.split(other)]
        assert UNKNOWN not in vocabulary.encode(other).ids
        assert MASK not in vocabulary.decode(vocabulary.encode(other).ids)[0]
