"""Plain text as documents: from files, folders and JSON lines, as it is, with its mistakes named."""

import gzip
import json
import os
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from saccade.base.errors import InputError
from saccade.text import documents
from saccade.text.documents import Corpus, Piece, read_corpus, split_corpus

SHARED = Path(__file__).parents[3] / "shared" / "data" / "text"


def texts_of(corpus: Corpus) -> list[str]:
    """The documents, put together from their pieces."""
    whole, parts = list[str](), list[str]()
    for piece in corpus.pieces():
        assert piece.text
        parts.append(piece.text)
        if piece.ends:
            whole.append("".join(parts))
            parts = []
    assert parts == []
    return whole


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_file_is_a_document_as_it_stands(tmp_path: Path) -> None:
    text = "\n  Two spaces,\ta tab\u00a0and\u2028a sign;\n\n\nthree newlines \r alone e\u0301\n"
    told: list[str] = []
    corpus = read_corpus(write(tmp_path / "any.name", text), tell=told.append)
    assert texts_of(corpus) == [text]
    assert len(corpus) == len(text)
    assert told == []


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_line_ends_of_two_signs_become_one_and_are_told(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saccade.base.streamed._AT_ONCE", size)
    told: list[str] = []
    corpus = read_corpus(write(tmp_path / "a.txt", b"\xef\xbb\xbfa\r\nb\r\r\n\rc\r\n\r\nd\r"), tell=told.append)
    assert texts_of(corpus) == ["a\nb\r\n\rc\n\nd\r"]
    assert told == [f"{tmp_path}/a.txt: 4 carriage returns before a newline are left out"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
def test_packed_text_is_the_same_text(pack: type[bytes], tmp_path: Path) -> None:
    plain = read_corpus(write(tmp_path / "plain", "ä\n" * 1000))
    packed = read_corpus(write(tmp_path / "packed", pack(("ä\n" * 1000).encode())))
    assert texts_of(packed) == texts_of(plain)
    assert packed.fingerprint() == plain.fingerprint()


def test_lines_of_json_are_documents(tmp_path: Path) -> None:
    rows = [{"text": "one\r\ntwo\n"}, {"text": "☃", "more": [1]}, {"story": "x", "text": "three"}]
    told: list[str] = []
    path = write(tmp_path / "a.jsonl", "\n".join([*map(json.dumps, rows), "", "  "]))
    corpus = read_corpus(path, tell=told.append)
    assert texts_of(corpus) == ["one\ntwo\n", "☃", "three"]
    assert len(corpus) == 14
    assert told == [f"{path}: 1 carriage returns before a newline are left out"]
    packed = write(tmp_path / "b.json.gz", gzip.compress(json.dumps({"inhalt": "eins"}).encode()))
    assert texts_of(read_corpus(packed, column="inhalt")) == ["eins"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", b"", "a.txt: a document without text; write some, or leave .* data.bad_documents=skip"),
        ("a.txt", b" \n\t\r\n", "a.txt: a document without text"),
        ("a.txt", b"one\ntw\xe9\n", r"a.txt, line 2: byte 3 \(0xe9\) is not UTF-8; convert the file"),
        ("a.jsonl", b"", "a.jsonl: it is empty; wanted text"),
        ("a.jsonl", b'{"text": "x"}\n{"text": ""}', "a.jsonl, line 2: a document without text"),
        (
            "a.jsonl",
            b'{"text": "x"}\n{"Text": "y"}',
            "line 2: found no text under 'text', but 'Text'; choose .* data.column",
        ),
        ("a.jsonl", b'{"text": 7}', "line 1: found no text under 'text'"),
        ("a.jsonl", b'["x"]', 'line 1: found a list, wanted an object a line, such as {"text": "..."}'),
        ("a.jsonl", b"plain", "line 1: not JSON"),
        ("a.jsonl", b'\n{"text": "\xff"}', r"line 2: byte 11 \(0xff\) is not UTF-8"),
        ("a.jsonl", rb'{"text": "\ud800"}', "line 1: found .*ud800, half of a character"),
        ("a.txt.gz", gzip.compress(b"abc")[:-1], "a.txt.gz: packed, and not whole"),
    ],
)
def test_bad_documents_are_named(name: str, content: bytes, says: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(InputError, match=says) as error:
        read_corpus(path)
    assert "\n" not in str(error.value)


def test_bad_documents_are_left_out_and_counted(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "good")
    write(tmp_path / "b.txt", b"begins well\n" * 9 + b"and ends \xff")
    write(tmp_path / "c.txt", "\n")
    lines = ['{"text": "also good"}', "{", '{"text": " "}', '{"no": 1}', '{"text": "and this"}']
    write(tmp_path / "d.jsonl", "\n".join(lines))
    told: list[str] = []
    corpus = read_corpus(tmp_path, names=["*.txt", "*.jsonl"], skip=True, tell=told.append)
    assert texts_of(corpus) == ["good", "also good", "and this"]
    assert len(corpus) == 21
    assert told == [
        (
            f"{tmp_path}: 5 of 8 documents are left out: 2 empty, 1 not UTF-8, 1 not valid JSON, 1 without a text under"
            f" 'text'; the first is {tmp_path}/b.txt"
        )
    ]
    alone = read_corpus(write(tmp_path / "alone.jsonl", "\n".join(lines[i] for i in (0, 4))))
    first = read_corpus(tmp_path / "a.txt")
    assert len({corpus.fingerprint(), alone.fingerprint(), first.fingerprint()}) == 3
    with pytest.raises(InputError, match=r"c\.txt: no document is left to use; 1 of 1 documents are left out: 1 empty"):
        read_corpus(tmp_path / "c.txt", skip=True)


def test_what_is_wrong_with_the_machine_is_not_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "good")
    write(tmp_path / "b.txt.gz", gzip.compress(b"abc")[:-1])
    with pytest.raises(InputError, match="not whole"):
        read_corpus(tmp_path, skip=True)


def test_a_folder_is_its_files_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.md", "B.TXT", "a.txt", "a/y.txt.gz"):
        content = f"<{name}>".encode()
        write(tmp_path / "corpus" / name, gzip.compress(content) if name.endswith("gz") else content)
    told: list[str] = []
    corpus = read_corpus(tmp_path / "corpus", tell=told.append)
    assert texts_of(corpus) == ["<B.TXT>", "<a/b/c.md>", "<a/y.txt.gz>", "<a/z.txt>", "<a.txt>", "<b.txt>"]
    assert told == []
    assert texts_of(read_corpus(tmp_path / "corpus", names=["*.md"])) == ["<a/b/c.md>"]
    moved = (tmp_path / "corpus").rename(tmp_path / "moved")
    assert read_corpus(moved).fingerprint() == corpus.fingerprint()


def test_what_else_is_in_a_folder_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    write(folder / "a.txt", "a")
    write(folder / "sub" / "pictures.png", "b")
    write(folder / "LICENSE", "c")
    write(folder / ".git" / "d.txt", "d")
    os.mkfifo(folder / "pipe.txt")
    (folder / "loop").symlink_to(folder)
    (folder / "zlink.txt").symlink_to(folder / "a.txt")
    (folder / "broken.txt").symlink_to(folder / "nowhere")
    told: list[str] = []
    assert texts_of(read_corpus(folder, tell=told.append)) == ["a", "a"]
    assert told == [
        (
            f"{folder}: 6 of 8 files and folders are left out: 2 with other names than *.txt and *.md,"
            " 2 no regular files, 1 hidden, 1 linked folders; the first is .git"
        )
    ]
    with pytest.raises(
        InputError, match=r"corpus: no file called \*\.rst there; choose others with data\.names; 8 of 8"
    ):
        read_corpus(folder, names=["*.rst"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        InputError, match=r"empty: no file called \*\.txt or \*\.md there; choose others with data.names$"
    ):
        read_corpus(tmp_path / "empty")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere cannot be read: No such file or directory"):
        read_corpus(tmp_path / "nowhere")


@given(
    texts=st.lists(st.text(st.sampled_from("ab \r\n☃"), max_size=40), min_size=1, max_size=5),
    size=st.integers(1, 11),
    share=st.floats(0.01, 0.99),
)
def test_pieces_are_the_text_wherever_it_is_cut(
    texts: list[str], size: int, share: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wanted = [text.replace("\r\n", "\n") for text in texts if text.strip()]
    path = write(tmp_path_factory.mktemp("corpus") / "a.jsonl", "\n".join(json.dumps({"text": text}) for text in texts))
    if not wanted:
        with pytest.raises(InputError, match="no document is left"):
            read_corpus(path, skip=True)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "PIECE", size)
        corpus = read_corpus(path, skip=True)
        assert texts_of(corpus) == wanted
        assert all(len(piece.text) == size for piece in corpus.pieces() if not piece.ends)
        whole = "".join(wanted)
        cut = int(len(whole) * share)
        if not 0 < cut < len(whole):
            with pytest.raises(InputError, match="leaves nothing to learn from or nothing to validate with"):
                split_corpus(corpus, train_share=share)
            return
        train, valid = split_corpus(corpus, train_share=share)
        assert "".join(texts_of(train)) == whole[:cut]
        assert "".join(texts_of(valid)) == whole[cut:]
        assert (len(train), len(valid)) == (cut, len(whole) - cut)
        assert len({corpus.fingerprint(), train.fingerprint(), valid.fingerprint()}) == 3
        # but for the one that is cut, they are the documents
        assert {*texts_of(train)[:-1], *texts_of(valid)[1:]} <= set(wanted)


def test_the_same_characters_in_other_documents_are_another_corpus(tmp_path: Path) -> None:
    one = read_corpus(write(tmp_path / "a.jsonl", '{"text": "ab"}\n{"text": "c"}'))
    other = read_corpus(write(tmp_path / "b.jsonl", '{"text": "a"}\n{"text": "bc"}'))
    again = read_corpus(write(tmp_path / "c.jsonl", '{"text":"ab"}\r\n\r\n{"text":"\\u0063"}'))
    assert one.fingerprint() == again.fingerprint() != other.fingerprint()


def test_the_cut_is_told_where_there_is_nothing_to_cut(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.txt: 1 characters, of which a share of 0\.9 .*; give data\.valid"):
        split_corpus(read_corpus(write(tmp_path / "a.txt", "a")))


def test_a_file_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    """Of 40 MB without a newline, packed as well."""
    import tracemalloc  # noqa: PLC0415 - it slows down whatever runs while it does

    content = "ä, b; ".encode() * (40 << 20 >> 3)
    for path in (write(tmp_path / "a.txt", content), write(tmp_path / "b.txt", gzip.compress(content, 1))):
        tracemalloc.start()
        corpus = read_corpus(path)
        count = sum(len(piece.text) for piece in corpus.pieces())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count == len(corpus) == len(content.decode())
        assert most < 8 << 20


def test_tinyshakespeare_is_split_as_nanogpt_splits_it() -> None:
    path = SHARED / "tinyshakespeare.txt"
    if not path.exists():
        pytest.skip("no tinyshakespeare in ../shared/data")
    train, valid = split_corpus(read_corpus(path))
    assert (len(train), len(valid)) == (1_003_854, 111_540)
    text = path.read_text("utf-8")
    assert texts_of(train) == [text[: int(len(text) * 0.9)]]
    assert texts_of(valid) == [text[int(len(text) * 0.9) :]]
    assert [piece.ends for piece in train.pieces()] == [False, False, False, True]
    assert isinstance(next(train.pieces()), Piece)
