"""Vocabularies that grow: old entries keep their numbers, and old text is cut as before."""

import random
from pathlib import Path
from typing import Literal

import pytest

from saccade.base.errors import InputError
from saccade.text import SPECIAL, UNKNOWN, VocabularySettings
from saccade.text.vocabularies.bpe_dropout import merge
from saccade.text.vocabularies.growing import copy_vocabulary, grow_vocabulary, grown_by
from saccade.text.vocabularies.listed import Words
from saccade.text.vocabularies.running import RunningCharacters, RunningSubwords, Utf8Bytes
from saccade.text.vocabularies.subwords import SPACE, Subwords

_WORDS = ["the", "a", "old", "song", "day", "was", "long", "and", "sung", "in", "one", "winter", "many", "singers"]
OLD = [" ".join(random.Random(seed).choices(_WORDS, k=6)) for seed in range(60)]
SONGS = ["quiet waters run deep", "Häuser am Wasser", "the deep water was quiet", "a house by the water", "łódź"] * 3
Method = Literal["bpe", "unigram"]
both_methods = pytest.mark.parametrize("method", ["bpe", "unigram"])


def subwords(method: Method) -> tuple[Subwords, Subwords]:
    """Of the old texts, and the same with what songs have besides."""
    old, fresh = Subwords.learn(OLD, size=60, method=method), Subwords.learn(SONGS, size=80, method=method)
    grown = grown_by(old, fresh)
    assert isinstance(grown, Subwords)
    return old, grown


@both_methods
def test_added_pieces_stand_behind_the_others_with_lower_scores(method: Method) -> None:
    old, grown = subwords(method)
    fresh = Subwords.learn(SONGS, size=80, method=method)
    pieces = [grown.piece(number) for number in range(len(grown))]
    assert pieces[: len(old)] == [old.piece(number) for number in range(len(old))]
    assert set(pieces) == {*pieces[: len(old)], *(fresh.piece(number) for number in range(len(fresh)))}
    assert len(set(pieces)) == len(pieces)
    scores = [grown.score(number) for number in range(len(grown))]
    assert scores[: len(old)] == [old.score(number) for number in range(len(old))]
    assert scores[len(old) :] == sorted(scores[len(old) :], reverse=True)
    assert max(scores[len(old) :]) < min(scores[: len(old)])


@both_methods
def test_text_without_new_pieces_is_cut_as_before_and_other_text_is_known(method: Method) -> None:
    old, grown = subwords(method)
    same = [text for text in OLD if max(grown.encode(text).ids) < len(old)]
    assert len(same) > len(OLD) / 5
    for text in same:
        assert grown.encode(text) == old.encode(text)
    for text in SONGS:
        ids = grown.encode(text).ids
        assert grown.text(ids[:-1]) == text
        assert UNKNOWN not in ids
    assert len(old.encode(SONGS[1]).ids) > len(grown.encode(SONGS[1]).ids)


def test_merges_are_those_of_the_scores() -> None:
    """sentencepiece against byte-pair merges, one at a time."""
    _, grown = subwords("bpe")
    scores = {grown.piece(number): grown.score(number) for number in range(len(SPECIAL), len(grown))}
    rng = random.Random(1)
    for text in [*OLD[:20], *SONGS]:
        for word in text.split():
            if word.isascii() or word in {"Häuser", "łódź"}:
                wanted = merge(SPACE + word, scores, 0, rng)
                assert [grown.piece(number) for number in grown.encode(word).ids[:-1]] == wanted


def test_what_is_written_is_what_protobuf_writes() -> None:
    schema = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    old, grown = subwords("bpe")
    wanted = schema.ModelProto.FromString(old.content())
    lowest = min(piece.score for piece in wanted.pieces)
    for rank, number in enumerate(range(len(old), len(grown)), start=1):
        wanted.pieces.add(piece=grown.piece(number), score=lowest - rank)
    assert schema.ModelProto.FromString(grown.content()) == wanted
    long = grown_by(old, Subwords.learn(["w" * 300], size=40))  # whose lengths take two bytes
    assert schema.ModelProto.FromString(long.content()).pieces[-1].piece == long.piece(len(long) - 1)


def test_words_and_characters() -> None:
    old = Words(["the", "song"], lowercase=True)
    grown = grown_by(old, Words(["a", "song", "Day"], lowercase=True))
    assert isinstance(grown, Words)
    assert grown.entries == [*SPECIAL, "the", "song", "a", "Day"]
    assert grown.lowercase
    letters = grown_by(RunningCharacters("ab"), RunningCharacters("b\nc"))
    assert letters.encode("a\nc").ids[:-1] == [4, 6, 7]
    assert len(grown_by(Utf8Bytes(), Utf8Bytes())) == 260


def test_subwords_of_running_text_keep_their_bytes() -> None:
    old = RunningSubwords.learn(["one two\n", "two three\n"] * 5, size=280)
    grown = grown_by(old, RunningSubwords.learn(["four four\nfive"] * 5, size=280))
    assert isinstance(grown, RunningSubwords)
    text = "two four\n☃ one"
    assert grown.text(grown.encode_ids(text).tolist()) == text
    assert len(grown.encode_ids(" four")) < len(old.encode_ids(" four"))
    assert grown.encode_ids(" two three\n").tolist() == old.encode_ids(" two three\n").tolist()


def test_a_file_grows_in_its_place(tmp_path: Path) -> None:
    settings = VocabularySettings(kind="words", min_frequency=2)
    Words(["the", "song"]).save(tmp_path / "source.txt")
    said: list[str] = []
    sizes = grow_vocabulary(tmp_path / "source.txt", settings, ["a song", "a day"], said.append)
    assert sizes == (6, 7)
    assert Words.load(tmp_path / "source.txt").entries == [*SPECIAL, "the", "song", "a"]


def test_a_vocabulary_of_running_text_is_copied_for_sentences(tmp_path: Path) -> None:
    running = RunningSubwords.learn(["the old song\n", "a long day\n"] * 5, size=300)
    running.save(tmp_path / "text.model")
    same = copy_vocabulary(tmp_path / "text.model", tmp_path / "same", "text", kind="subwords")
    assert same.read_bytes() == running.content()
    sentences = Subwords.load(copy_vocabulary(tmp_path / "text.model", tmp_path, "target", kind="subwords"))
    assert sentences.encode("old  song").ids[:-1] == running.encode_ids(" old song").tolist()
    assert sentences.decode(sentences.encode("a snow☃man").ids)[0] == "a snow☃man"
    with pytest.raises(InputError, match="have their spaces with them"):
        copy_vocabulary(tmp_path / "text.txt", tmp_path, "joint", kind="words")
