"""Vocabularies that are extended by the unknown words of one source."""

import pytest

from saccade.text import (
    END,
    UNKNOWN,
    Extended,
    Pair,
    Vocabulary,
    VocabularySettings,
    learn_vocabularies,
    truncate_tokens,
)

PAIRS = [Pair("who is in the old house", "who"), Pair("the house is old", "it is the old one")] * 9


def learnt(kind: str) -> Vocabulary:
    settings = {"kind": kind, "joint": True} | ({"size": 40} if kind == "subwords" else {})
    return learn_vocabularies(PAIRS, VocabularySettings.model_validate(settings)).source


def test_unknown_words_have_numbers_of_their_own_and_come_back() -> None:
    known = learnt("words")
    size = len(known)
    source = Extended(known).encode("Quim is in Zobra the Quim house")
    plain = known.encode("Quim is in Zobra the Quim house").ids
    assert [number for number, before in zip(source.ids, plain, strict=True) if before == UNKNOWN] == [
        size,
        size + 1,
        size,
    ]
    assert [number for number in source.ids if number < size] == [number for number in plain if number != UNKNOWN]
    writing = Extended.of(known, source)
    assert len(writing) == size + 2
    target = writing.encode("the old Zobra Mirp Quim")
    assert target.ids == [*known.encode("the old").ids[:-1], size + 1, UNKNOWN, size, END]  # Mirp is not of the source
    assert writing.decode(source.ids) == ("Quim is in Zobra the Quim house", source)
    assert writing.piece(size + 1) == "Zobra"
    assert writing.piece(source.ids[1]) == "is"


@pytest.mark.parametrize("kind", ["words", "characters", "subwords"])
def test_every_kind_of_vocabulary_can_be_extended(kind: str) -> None:
    known, text = learnt(kind), "the Жук is in the house of Жук 7"
    source = Extended(known).encode(text)
    assert UNKNOWN not in source.ids
    assert max(source.ids) >= len(known)
    found, tokens = Extended.of(known, source).decode(source.ids)
    assert found == text
    assert tokens.ids == source.ids
    assert Extended(known).encode("the old house") == known.encode("the old house")


def test_what_was_cut_off_cannot_be_copied() -> None:
    known = learnt("words")
    source = truncate_tokens(Extended(known).encode("Aa in Bb Cc"), 4)
    assert Extended.of(known, source).encode("Aa Bb Cc").ids == [len(known), len(known) + 1, UNKNOWN, END]


def test_lower_case_is_that_of_the_known_words() -> None:
    known = learn_vocabularies(PAIRS, VocabularySettings(kind="words", joint=True, lowercase=True)).source
    source = Extended(known).encode("The QUIM quim")
    assert source.ids[1:3] == [len(known), len(known)]
    assert Extended.of(known, source).decode(source.ids)[0] == "the quim quim"


def test_it_has_no_file() -> None:
    with pytest.raises(TypeError, match="no file"):
        Extended(learnt("words")).content()
