"""Vocabularies of running text: all of it there and back, cut wherever it may be, and through their files."""

import unicodedata
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from saccade.base.errors import InputError
from saccade.text import END, SPECIAL, UNKNOWN
from saccade.text.documents import Corpus, Piece, read_corpus
from saccade.text.vocabularies.running import (
    RunningCharacters,
    RunningSubwords,
    RunningVocabulary,
    RunningVocabularySettings,
    RunningWords,
    Utf8Bytes,
    cut_safely,
    learn_running_vocabulary,
    load_running_vocabulary,
    save_running_vocabulary,
)

SHARED = Path(__file__).parents[3] / "shared" / "data" / "text"
TEXT = """\
First Citizen:
  Before we proceed  any further, hear me speak.

All:\tSpeak, speak. Häuschen \\ e\u0301 \u00a0\r☃
"""
ANY = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(" \n\t\r▁▅\0\\Ho")))


@cache
def subwords(method: str = "bpe") -> RunningSubwords:
    return RunningSubwords.learn([TEXT * 3], size=300, method="bpe" if method == "bpe" else "unigram")


def vocabularies(text: str) -> list[RunningVocabulary]:
    """One of each kind that knows the text."""
    return [
        RunningCharacters.learn([text]),
        RunningWords.learn([text]),
        Utf8Bytes(),
        subwords(),
        subwords("unigram"),
    ]


@given(text=ANY)
def test_what_is_known_comes_back_as_it_was(text: str) -> None:
    for vocabulary in vocabularies(text):
        tokens = vocabulary.encode(text)
        assert UNKNOWN not in tokens.ids
        assert tokens.ids[-1] == END
        assert all(len(SPECIAL) <= number < len(vocabulary) for number in tokens.ids[:-1])
        assert tokens.ids[:-1] == vocabulary.encode_ids(text).tolist()
        assert "".join(tokens.words[:-1]) == text
        found, words = vocabulary.decode(tokens.ids)
        assert found == text
        assert "".join(words.words[:-1]) == text
        assert words.ids == tokens.ids


@given(text=ANY, known=ANY)
def test_what_is_unknown_stands_where_it_was(text: str, known: str) -> None:
    characters, words = RunningCharacters.learn([known]), RunningWords.learn([known])
    assert (characters.encode_ids(text) == UNKNOWN).tolist() == [sign not in known for sign in text]
    assert characters.decode(characters.encode(text).ids)[0] == "".join(sign for sign in text if sign in known)
    for vocabulary in (characters, words):
        numbers = vocabulary.encode_ids(text)
        assert vocabulary.encode(text).ids[:-1] == numbers.tolist()
        assert len(numbers) == len(vocabulary.encode(text).words) - 1
    in_bytes, pieces = Utf8Bytes(), subwords()
    assert in_bytes.text(in_bytes.encode_ids(text).tolist()) == text
    assert pieces.text(pieces.encode_ids(text).tolist()) == text


@given(text=ANY, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_pieces_have_the_numbers_of_the_whole(text: str, sizes: list[int]) -> None:
    parts, rest = list[str](), text
    while rest:
        size = sizes[len(parts) % len(sizes)]
        parts.append(rest[:size])
        rest = rest[size:]
    pieces = [Piece(part, ends=False) for part in parts] + [Piece("")]
    for vocabulary in vocabularies(text):
        safe = list(cut_safely([*pieces, Piece("the next"), *pieces], vocabulary.safe_end))
        texts = ["".join(piece.text for piece in safe[begins:ends]) for begins, ends in documents_of(safe)]
        assert texts == [text, "the next", text]
        first = safe[: documents_of(safe)[0][1]]
        assert np.concatenate([vocabulary.encode_ids(piece.text) for piece in first]).tolist() == (
            vocabulary.encode_ids(text).tolist()
        )


def documents_of(pieces: list[Piece]) -> list[tuple[int, int]]:
    ends = [number for number, piece in enumerate(pieces, start=1) if piece.ends]
    return list(zip([0, *ends], ends, strict=False))


def test_nothing_waits_for_ever_for_the_end_of_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saccade.text.vocabularies.running.vocabulary.PIECE", 10)
    pieces = [Piece("a bcd", ends=False), *[Piece("efghi", ends=False)] * 5, Piece("j k", ends=True)]
    found = list(cut_safely(pieces, RunningWords.safe_end))
    assert found == [("a", False), (" bcdefghiefghi", False), ("efghiefghiefghi", False), ("j k", True)]


@pytest.mark.parametrize("kind", [RunningWords, RunningSubwords])
def test_a_safe_end_is_before_the_last_white_space(kind: type[RunningWords | RunningSubwords]) -> None:
    ends = {"": 0, "ab": 0, " ab": 0, "a b": 1, "a b c": 3, "a  b": 2, "a\n": 1, "a\tb": 1, "\n\n": 1}
    assert {text: kind.safe_end(text) for text in ends} == ends


def test_words_have_the_space_before_them() -> None:
    words = RunningWords.learn(["the cat, the  hat\n\n the\u00a0end"])
    assert words.cut("the cat, the  hat\n\n the\u00a0end") == (
        ["the", " cat,", " the", " ", " hat", "\n", "\n", " the", "\u00a0", "end"]
    )
    assert len(words) == len(SPECIAL) + 8
    tokens = words.encode("the dog the")
    assert tokens.ids == [words.encode_ids("the")[0], UNKNOWN, words.encode_ids(" the")[0], END]
    assert tokens.words == ["the", " dog", " the", "</s>"]


def test_bytes_that_are_no_character() -> None:
    vocabulary = Utf8Bytes()
    assert len(vocabulary) == 260
    ids = [4 + byte for byte in b"a\xe2\x98\x83\xe2\x98b\x83\xff\xc3"]
    found, words = vocabulary.decode(ids)
    assert found == "a☃\ufffd\ufffdb\ufffd\ufffd\ufffd"
    assert words.words == [*found, "</s>"]
    assert words.ids == [*ids, END]
    assert words.word_of == [0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8]
    assert [vocabulary.piece(number) for number in (0, 3, 4 + 65, 4 + 0xE2)] == ["<pad>", "</s>", "A", "<0xE2>"]


def test_half_a_character_is_unknown_or_broken() -> None:
    """As Python makes of arguments that are not UTF-8."""
    characters, words, in_bytes = RunningCharacters.learn(["ab"]), RunningWords.learn(["a b"]), Utf8Bytes()
    assert characters.encode_ids("a\udcffb").tolist() == [4, UNKNOWN, 5]
    assert words.encode_ids("a\udcff b").tolist() == [UNKNOWN, words.encode_ids(" b")[0]]
    assert in_bytes.text(in_bytes.encode_ids("a\udcffb").tolist()) == "a\ufffd\ufffd\ufffdb"


@pytest.mark.parametrize("method", ["bpe", "unigram"])
def test_pieces_are_those_of_sentencepiece(method: str) -> None:
    """For the text as a whole, but for the sign that sentencepiece writes for a space, of which it would make one."""
    vocabulary = subwords(method)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=vocabulary.content())
    for text in (TEXT, TEXT.upper(), "  a\n\n b  \n\t", "été ☃☃ 漢字 \0"):
        assert vocabulary.encode_ids(text).tolist() == theirs.encode(text)
        assert vocabulary.text(theirs.encode(text)) == theirs.decode(theirs.encode(text)) == text
    assert theirs.decode(theirs.encode("a▁b")) == "a b"
    assert [vocabulary.piece(number) for number in vocabulary.encode_ids("▁")] == ["<0xE2>", "<0x96>", "<0x81>"]


def test_subwords_are_of_text_as_it_is() -> None:
    vocabulary = subwords()
    pieces = [vocabulary.piece(number) for number in range(len(vocabulary))]
    assert pieces[:6] == [*SPECIAL, "\n", "\t"]
    assert not [piece for piece in pieces[6:] if "\n" in piece or "\t" in piece or "▁" in piece[1:]]
    assert {"ea", "eak"} <= {*pieces[262:]}
    composed, apart = (vocabulary.encode_ids(unicodedata.normalize(form, "é")).tolist() for form in ("NFC", "NFD"))
    assert composed != apart
    assert vocabulary.encode("a b\n\nc\td").words == ["a", " b", "\n", "\n", "c", "\t", "d", "</s>"]
    found, words = vocabulary.decode(vocabulary.encode("hear me\n\n  speak").ids)
    assert words.words == ["hear", " me", "\n", "\n", " ", " speak", "</s>"]
    assert found == "hear me\n\n  speak"


def test_more_text_than_subwords_are_learnt_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of(tmp_path, "one two three\n" * 40 + "▅ seven\n")
    told: list[str] = []
    settings = RunningVocabularySettings(kind="subwords", size=290)
    whole = learn_running_vocabulary(corpus, settings, told.append)
    assert told == []
    assert [whole.piece(number) for number in whole.encode_ids("one two")] == ["one", "▁two"]
    assert "seven" in "".join(whole.piece(number) for number in whole.encode_ids(" seven"))
    monkeypatch.setattr("saccade.text.vocabularies.running._ENOUGH", 200)
    part = learn_running_vocabulary(corpus, settings, told.append)
    assert told == ["vocabulary: subwords are learnt from one line in 3, which is some 200 characters"]
    assert isinstance(part, RunningSubwords)
    seen = list[str]()
    learn = "saccade.text.vocabularies.running.subwords.learn_pieces"
    monkeypatch.setattr(learn, lambda lines, **_: seen.extend(lines) or part.content())
    learn_running_vocabulary(corpus, settings)
    assert seen == ["one two three"] * 14


def test_sizes_that_bytes_leave_no_room_for() -> None:
    with pytest.raises(InputError, match=r"vocabulary\.size: found 100, wanted at least 2\d\d, for so many letters"):
        RunningSubwords.learn([TEXT], size=100)


def corpus_of(folder: Path, text: str) -> Corpus:
    (folder / "text.txt").write_text(text, newline="")
    return read_corpus(folder / "text.txt")


SETTINGS = [
    RunningVocabularySettings(kind="characters"),
    RunningVocabularySettings(kind="bytes"),
    RunningVocabularySettings(kind="words"),
    RunningVocabularySettings(kind="subwords", size=300),
    RunningVocabularySettings(kind="subwords", size=300, method="unigram"),
]
every_kind = pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: f"{settings.kind} {settings.method}")


@every_kind
def test_through_files(settings: RunningVocabularySettings, tmp_path: Path) -> None:
    before = learn_running_vocabulary(corpus_of(tmp_path, TEXT), settings)
    path = save_running_vocabulary(before, settings, tmp_path / "model")
    assert path.read_bytes() == before.content()
    after = load_running_vocabulary(settings, tmp_path / "model")
    assert type(after) is type(before)
    assert after.content() == before.content()
    assert len(after) == len(before)
    assert after.encode(TEXT) == before.encode(TEXT)
    assert after.decode(before.encode(TEXT).ids)[0] == TEXT


@every_kind
def test_a_damaged_file_is_named(settings: RunningVocabularySettings, tmp_path: Path) -> None:
    path = save_running_vocabulary(learn_running_vocabulary(corpus_of(tmp_path, TEXT), settings), settings, tmp_path)
    path.write_bytes(b"\xff\x00damaged")
    with pytest.raises(InputError, match=f"{path.name}: damaged"):
        load_running_vocabulary(settings, tmp_path)
    path.unlink()
    with pytest.raises(InputError, match=f"{path.name} cannot be read"):
        load_running_vocabulary(settings, tmp_path)


def test_a_list_of_words_is_no_list_of_characters(tmp_path: Path) -> None:
    RunningWords.learn(["many words"]).save(tmp_path / "text.txt")
    with pytest.raises(InputError, match=r"text\.txt: damaged, it has lines that are no character"):
        RunningCharacters.load(tmp_path / "text.txt")


@given(text=ANY)
def test_whatever_a_word_is_its_file_has_it(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("vocabulary") / "text.txt"
    for kind in (RunningCharacters, RunningWords):
        vocabulary = kind.learn([text, "\n \\ \\n \\\\n"])
        vocabulary.save(path)
        assert kind.load(path).entries == vocabulary.entries
        assert path.read_bytes().count(b"\n") == len(vocabulary)


def test_rare_words_and_a_full_vocabulary(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, "b b b a a c")
    rare = learn_running_vocabulary(corpus, RunningVocabularySettings(kind="words", min_frequency=2))
    assert [rare.piece(number) for number in range(4, len(rare))] == [" a", " b"]
    full = learn_running_vocabulary(corpus, RunningVocabularySettings(kind="characters", size=8))
    assert [full.piece(number) for number in range(4, len(full))] == [" ", "b", "a", "c"]


def test_text_that_is_read_in_pieces_is_learnt_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of(tmp_path, TEXT)
    for settings in SETTINGS[:3]:  # subwords are learnt from lines, some of which are cut
        wanted = learn_running_vocabulary(corpus, settings).content()
        with monkeypatch.context() as patch:
            patch.setattr("saccade.text.documents.PIECE", 7)
            assert len(list(corpus.pieces())) > 10
            assert learn_running_vocabulary(corpus, settings).content() == wanted


def test_a_whole_text_by_every_kind() -> None:
    path = SHARED / "tinyshakespeare.txt"
    if not path.exists():
        pytest.skip("no tinyshakespeare in ../shared/data")
    corpus = read_corpus(path)
    text, sizes = path.read_text("utf-8"), {"words": 50_000}
    for settings in SETTINGS:
        vocabulary = learn_running_vocabulary(
            corpus, settings.model_copy(update={"size": sizes.get(settings.kind, 500)})
        )
        parts = [vocabulary.encode_ids(piece.text) for piece in cut_safely(corpus.pieces(), vocabulary.safe_end)]
        assert len(parts) == 5
        assert vocabulary.text(np.concatenate(parts).tolist()) == text
        if settings.kind == "characters":
            assert len(vocabulary) == len(SPECIAL) + 65  # as nanoGPT counts them
