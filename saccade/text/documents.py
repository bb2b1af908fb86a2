r"""Plain text as documents: a text file each, or a line of JSON each. They are streamed, never read as a whole.

    book.txt          one document
    books/            each of its files, *.txt and *.md unless other names are given, in the order of their paths
    books.jsonl       {"text": "..."}, a document a line

Each may be packed: books.jsonl.gz. The text stays as it is, with its newlines and all spaces, but for two things: the
mark that some programs begin a file with is no part of it, and lines that end in "\r\n" end in "\n".
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from saccade.base.compressed import plain_path
from saccade.base.errors import InputError
from saccade.base.files import NotUTF8Error
from saccade.base.fingerprint import fingerprint
from saccade.base.streamed import KnownFile, read_pieces, stream_lines
from saccade.text.corpus_files import NAMES, find_files
from saccade.text.records import BadRecordError, LeftOut, decode_record, texts_of_json

PIECE = 1 << 18  # characters


class Piece(NamedTuple):
    """A part of a document: the next, or, where it ends the document, the last."""

    text: str
    ends: bool = True


@dataclass(frozen=True)
class Corpus:
    """Documents that were looked through once, and are read anew from their files each time they are asked for.

    It may be a part of them: the characters from `first` up to `end`, counted through all documents. One that is cut
    there is a document in either part.
    """

    files: tuple[KnownFile, ...]
    column: str
    left_out: frozenset[int]  # the numbers of the documents that are, from 0
    digest: str
    first: int
    end: int

    def __len__(self) -> int:
        """How many characters it has."""
        return self.end - self.first

    def fingerprint(self) -> str:
        """A short text that other documents do not have, wherever they lie and whatever they are packed by."""
        return fingerprint([self.digest, str(self.first), str(self.end)])

    def pieces(self) -> Iterator[Piece]:
        """The text, at most `PIECE` characters at a time, cut in the same places each time."""
        position = 0
        for number, (_, texts) in enumerate(_documents(self.files, self.column)):
            if number in self.left_out:
                continue
            for piece in _in_pieces(_Newlines().mend(texts)):
                begins, ends = max(self.first - position, 0), self.end - position
                position += len(piece.text)
                if begins < len(piece.text):
                    yield Piece(piece.text[begins:ends], piece.ends or position >= self.end)
                if position >= self.end:
                    return


@dataclass(frozen=True)
class Texts:
    """Documents that are there already, as texts; in place of a `Corpus` of files."""

    documents: Sequence[str]

    def __post_init__(self) -> None:
        for number, text in enumerate(self.documents, start=1):
            try:
                text.encode()
            except UnicodeEncodeError:
                raise InputError(
                    f"document {number}: found half a character in it, wanted text that can be written as UTF-8"
                ) from None

    def __len__(self) -> int:
        """How many characters they have."""
        return sum(map(len, self.documents))

    def fingerprint(self) -> str:
        """A short text that other documents do not have."""
        return fingerprint(self.documents)

    def pieces(self) -> Iterator[Piece]:
        """Each document, in one piece."""
        return map(Piece, self.documents)


class CorpusSplits(NamedTuple):
    """Text to learn from, and text to validate with."""

    train: Corpus
    valid: Corpus


def split_corpus(corpus: Corpus, *, train_share: float = 0.9) -> CorpusSplits:
    """The first int(share · characters) characters to learn from, the others to validate with."""
    cut = corpus.first + int(len(corpus) * train_share)
    if not corpus.first < cut < corpus.end:
        raise InputError(
            f"{corpus.files[0].path}: {len(corpus):,} characters, of which a share of {train_share:g} leaves nothing to"
            " learn from or nothing to validate with; give data.valid"
        )
    return CorpusSplits(replace(corpus, end=cut), replace(corpus, first=cut))


def read_corpus(
    path: Path,
    *,
    column: str = "text",
    names: Sequence[str] = NAMES,
    skip: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> Corpus:
    """Look through a file of text or of JSON lines (`.jsonl`, `.json`), or through a folder of them.

    A document that cannot be read, or has nothing but white space, is an `InputError`; with `skip` it is left out.
    What is left out or changed is counted, and `tell` is told.
    """
    files = tuple(find_files(path, names, tell))
    left_out, numbers = LeftOut("documents"), set[int]()
    documents = characters = returns = 0
    digest = hashlib.sha256()
    for number, (where, texts) in enumerate(_documents(files, column)):
        try:
            about = _look_through(texts, where)
        except (BadRecordError, NotUTF8Error) as error:
            if not skip:
                raise
            left_out.add(error.reason if isinstance(error, BadRecordError) else "not UTF-8", where)
            numbers.add(number)
            continue
        documents += 1
        characters += about.characters
        returns += about.returns
        digest.update(about.digest)
    if not documents:
        reason = f"no document is left to use; {left_out.describe(kept=0)}" if numbers else "it is empty; wanted text"
        raise InputError(f"{path}: {reason}")
    if numbers:
        tell(f"{path}: {left_out.describe(kept=documents)}")
    if returns:
        tell(f"{path}: {returns:,} carriage returns before a newline are left out")
    return Corpus(files, column, frozenset(numbers), digest.hexdigest(), 0, characters)


class _About(NamedTuple):
    """What is kept in mind of a document."""

    characters: int
    returns: int
    digest: bytes


def _look_through(texts: Iterable[str], where: str) -> _About:
    newlines, digest, characters, blank = _Newlines(), hashlib.sha256(), 0, True
    for text in newlines.mend(texts):
        digest.update(text.encode())
        characters += len(text)
        blank = blank and not text.strip()
    if blank:
        raise BadRecordError(
            f"{where}: a document without text; write some, or leave it out, as trainings do with"
            " data.bad_documents=skip",
            reason="empty",
        )
    return _About(characters, newlines.returns, digest.digest())


def _documents(files: Sequence[KnownFile], column: str) -> Iterator[tuple[str, Iterator[str]]]:
    """Where each document is, and its text as it stands there; what is wrong with one is said when it is read."""
    for file in files:
        if plain_path(file.path).suffix.lower() in {".jsonl", ".json"}:
            for number, line in enumerate(stream_lines(file), start=1):
                if line.strip():
                    where = f"{file.path}, line {number}"
                    yield where, _of_json(line, where, column)
        else:
            yield str(file.path), read_pieces(file)


def _of_json(line: bytes, where: str, column: str) -> Iterator[str]:
    remedy = "choose one of them with data.column"
    yield from texts_of_json(decode_record(line, where), where, [column], remedy=remedy)


class _Newlines:
    r"""Makes `\n` of each `\r\n`, and counts them. One that stands by itself stays what it is."""

    def __init__(self) -> None:
        self.returns = 0

    def mend(self, texts: Iterable[str]) -> Iterator[str]:
        held = ""  # a return at the end of a piece, whose newline may come with the next
        for piece in texts:
            text = held + piece
            held = "\r" if text.endswith("\r") else ""
            text = text.removesuffix(held)
            self.returns += text.count("\r\n")
            yield text.replace("\r\n", "\n")
        if held:
            yield held


def _in_pieces(texts: Iterable[str]) -> Iterator[Piece]:
    """The same text in pieces of one size, and the rest."""
    rest = ""
    for text in texts:
        rest += text
        whole = max(len(rest) - 1, 0) // PIECE * PIECE  # something stays for the last piece
        for first in range(0, whole, PIECE):
            yield Piece(rest[first : first + PIECE], ends=False)
        rest = rest[whole:]
    yield Piece(rest)
