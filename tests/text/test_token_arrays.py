"""Tokens on disk: written piece by piece, read as they were written, made anew if anything is wrong with them."""

import json
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saccade.base.errors import InputError
from saccade.text import END, START, UNKNOWN
from saccade.text.corpus_tokens import corpus_tokens
from saccade.text.documents import read_corpus, split_corpus
from saccade.text.token_arrays import ABOUT, OFFSETS, TOKENS, Counts, TokenArrays, TokenPiece, token_arrays
from saccade.text.vocabularies.running import RunningCharacters, RunningWords, Utf8Bytes, learn_running_vocabulary
from saccade.text.vocabularies.running import RunningVocabularySettings as Settings

SHARED = Path(__file__).parents[3] / "shared" / "data" / "text"
DOCUMENTS = [[2, 7, 1, 3], [2, 3], [2, 5, 5, 1, 1, 300, 3]]


class Maker:
    """Documents in pieces, and how often they were asked for."""

    def __init__(self, documents: list[list[int]], size: int = 3) -> None:
        self.documents, self.size, self.times = documents, size, 0

    def __call__(self) -> Iterator[TokenPiece]:
        self.times += 1
        for document in self.documents:
            for first in range(0, len(document), self.size):
                ids = np.array(document[first : first + self.size], dtype=np.uint32)
                yield TokenPiece(ids, first + self.size >= len(document), 10, 11)


def made(folder: Path, maker: Maker, *, size: int = 301, told: list[str] | None = None) -> TokenArrays:
    tell = (lambda text: None) if told is None else told.append
    return token_arrays(folder, maker, name="abc", vocabulary_size=size, tell=tell)


@given(
    documents=st.lists(st.lists(st.integers(0, 299), min_size=1, max_size=9), min_size=1, max_size=5),
    size=st.integers(1, 10),
)
def test_documents_come_back(documents: list[list[int]], size: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    arrays = made(tmp_path_factory.mktemp("tokens"), Maker(documents, size))
    assert [arrays.document(index).tolist() for index in range(arrays.counts.documents)] == documents
    assert arrays.tokens.tolist() == [number for document in documents for number in document]
    assert arrays.counts.documents == len(documents)
    assert arrays.counts.tokens == len(arrays.tokens)
    assert arrays.counts.unknown == sum(document.count(UNKNOWN) for document in documents)
    pieces = len(list(Maker(documents, size)()))
    assert (arrays.counts.characters, arrays.counts.utf8_bytes) == (10 * pieces, 11 * pieces)


@pytest.mark.parametrize(("size", "kind"), [(260, "<u2"), (65_536, "<u2"), (65_537, "<u4")])
def test_a_token_takes_no_more_room_than_it_needs(size: int, kind: str, tmp_path: Path) -> None:
    largest = size - 1
    arrays = made(tmp_path, Maker([[2, largest, 3]]), size=size)
    assert arrays.tokens.dtype.str == kind
    assert arrays.tokens.tolist() == [2, largest, 3]


def test_the_files_are_numpys_own(tmp_path: Path) -> None:
    arrays = made(tmp_path, Maker(DOCUMENTS))
    assert np.load(tmp_path / "abc" / TOKENS, allow_pickle=False).tolist() == arrays.tokens.tolist()
    assert np.load(tmp_path / "abc" / OFFSETS, allow_pickle=False).tolist() == [0, 4, 6, 13]
    assert type(arrays.tokens) is np.ndarray
    assert not arrays.tokens.flags.writeable


def test_they_are_made_once(tmp_path: Path) -> None:
    maker, told = Maker(DOCUMENTS), list[str]()
    first = made(tmp_path, maker, told=told)
    again = made(tmp_path, maker, told=told)
    assert maker.times == 1
    assert again.tokens.tolist() == first.tokens.tolist()
    assert again.counts == first.counts
    assert told == []


def damaged(content: bytes, how: str) -> bytes:
    if how == "cut off":
        return content[:-1]
    if how == "empty":
        return b""
    if how == "longer":
        return content + b"x"
    position = 9 if how == "its beginning" else len(content) - 2
    return content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


@pytest.mark.parametrize("name", [TOKENS, OFFSETS, ABOUT])
@pytest.mark.parametrize("how", ["cut off", "empty", "longer", "its beginning", "its end", "gone", "a folder"])
def test_what_is_damaged_is_made_anew_and_told(name: str, how: str, tmp_path: Path) -> None:
    maker, told = Maker(DOCUMENTS), list[str]()
    made(tmp_path, maker)
    path = tmp_path / "abc" / name
    if how in {"gone", "a folder"}:
        path.unlink()
    else:
        path.write_bytes(damaged(path.read_bytes(), how))
    if how == "a folder":
        path.mkdir()
        with pytest.raises(InputError, match=rf"{name} cannot be written"):
            made(tmp_path, maker)
        return
    assert made(tmp_path, maker, told=told).tokens.tolist() == [n for document in DOCUMENTS for n in document]
    assert maker.times == 2
    assert len(told) == (0 if (how, name) == ("gone", ABOUT) else 1)
    assert all(str(path) in text and text.endswith("; the tokens are made anew") for text in told)
    made(tmp_path, maker)
    assert maker.times == 2


@pytest.mark.parametrize(
    "change", [{"counts": {"tokens": -1}}, {"counts": 3}, {"kind": "O"}, {"kind": "nonsense"}, {"checksums": []}]
)
def test_what_the_files_say_of_themselves_is_not_believed(change: dict[str, object], tmp_path: Path) -> None:
    maker = Maker(DOCUMENTS)
    wanted = made(tmp_path, maker).tokens.tolist()
    path = tmp_path / "abc" / ABOUT
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    told: list[str] = []
    assert made(tmp_path, maker, told=told).tokens.tolist() == wanted
    assert told == [f"{path}: damaged; the tokens are made anew"]


def test_what_was_broken_off_does_not_count(tmp_path: Path) -> None:
    def broken() -> Iterator[TokenPiece]:
        yield from Maker(DOCUMENTS)()
        raise InputError("no more")

    with pytest.raises(InputError, match="no more"):
        token_arrays(tmp_path, broken, name="abc", vocabulary_size=301)
    assert [path.name for path in (tmp_path / "abc").iterdir()] == [".saccade-lock"]
    (tmp_path / "abc" / ".saccade-0123456789abcdef.tmp").write_bytes(b"of one that was killed")
    assert made(tmp_path, Maker(DOCUMENTS)).counts.documents == 3
    names = {path.name for path in (tmp_path / "abc").iterdir()}
    assert names == {".saccade-lock", TOKENS, OFFSETS, ABOUT}


def test_two_that_want_the_same_at_the_same_time(tmp_path: Path) -> None:
    maker, found = Maker(DOCUMENTS * 100, 1), list[TokenArrays]()
    threads = [threading.Thread(target=lambda: found.append(made(tmp_path, maker))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert maker.times == 1
    assert [one.counts.documents for one in found] == [300] * 4


def corpus_file(folder: Path, *texts: str) -> Path:
    path = folder / "corpus.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


def test_a_document_begins_and_ends(tmp_path: Path) -> None:
    corpus = read_corpus(corpus_file(tmp_path, "a☃b", "a\n"))
    vocabulary = RunningCharacters(["a", "b", "\n"])
    counted: list[tuple[int, int]] = []
    arrays = corpus_tokens(corpus, vocabulary, tmp_path, count=lambda *numbers: counted.append(numbers))
    assert arrays.document(0).tolist() == [START, 4, UNKNOWN, 5, END]
    assert arrays.document(1).tolist() == [START, 4, 6, END]
    assert arrays.counts == Counts(documents=2, tokens=9, unknown=1, characters=5, utf8_bytes=7)
    assert counted == [(3, 5), (5, 5)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_pieces_make_no_difference(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["one two  three\n\nfour" * 3, "x", "five six"]
    corpus = read_corpus(corpus_file(tmp_path, *texts))
    for kind in ("characters", "bytes", "words"):
        vocabulary = learn_running_vocabulary(corpus, Settings.model_validate({"kind": kind}))
        with monkeypatch.context() as patch:
            patch.setattr("saccade.text.documents.PIECE", size)
            arrays = corpus_tokens(corpus, vocabulary, tmp_path / f"{kind} {size}")
        found = [arrays.document(index).tolist() for index in range(3)]
        assert found == [[START, *vocabulary.encode_ids(text).tolist(), END] for text in texts]
        assert [vocabulary.decode(ids[1:])[0] for ids in found] == texts


def test_another_text_and_another_vocabulary_have_tokens_of_their_own(tmp_path: Path) -> None:
    corpus = read_corpus(corpus_file(tmp_path, "abc"))
    folder = tmp_path / "tokens"
    for vocabulary in (RunningCharacters("abc"), RunningCharacters("acb"), RunningWords("abc"), Utf8Bytes()):
        corpus_tokens(corpus, vocabulary, folder)
        corpus_tokens(corpus, vocabulary, folder)
    assert len(list(folder.iterdir())) == 4
    for part in split_corpus(corpus, train_share=0.5):
        arrays = corpus_tokens(part, Utf8Bytes(), folder)
        assert len(arrays.tokens) == len(part) + 2
    assert len(list(folder.iterdir())) == 6


def test_text_larger_than_memory_would_do(tmp_path: Path) -> None:
    """40 MB of text become 80 MB of tokens, with a few MB of memory."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"some words;\n" * ((40 << 20) // 12))
    corpus = read_corpus(path)
    tracemalloc.start()
    arrays = corpus_tokens(corpus, Utf8Bytes(), tmp_path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert arrays.counts.tokens == len(corpus) + 2
    assert (tmp_path / "a.txt").stat().st_size * 2 < arrays.tokens.nbytes + 100
    assert most < 16 << 20


def test_tinyshakespeare(tmp_path: Path) -> None:
    path = SHARED / "tinyshakespeare.txt"
    if not path.exists():
        pytest.skip("no tinyshakespeare in ../shared/data")
    train, valid = split_corpus(read_corpus(path))
    vocabulary = learn_running_vocabulary(train, Settings())
    parts = [corpus_tokens(part, vocabulary, tmp_path) for part in (train, valid)]
    assert [part.counts.characters for part in parts] == [1_003_854, 111_540]  # as nanoGPT counts them
    assert [part.counts.unknown for part in parts] == [0, 0]
    assert [part.counts.tokens for part in parts] == [1_003_856, 111_542]
    text = path.read_text("utf-8")
    assert vocabulary.text(parts[0].tokens[1:-1].tolist()) + vocabulary.text(parts[1].tokens[1:-1].tolist()) == text
