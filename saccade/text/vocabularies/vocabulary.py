"""What every vocabulary does: from text to numbers and back, knowing which word each number belongs to."""

import unicodedata
from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple

from saccade.base.files import write_file

# The numbers that all vocabularies have in common.
PAD, UNKNOWN, START, END = range(4)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")

MASK = "<mask>"  # a word of its own in a vocabulary that was learnt with it: it stands for words that are missing
MOST_BYTES = 256 << 20  # of a vocabulary's file
_PIECE = 512  # characters that are composed at a time; few words are longer


class Tokens(NamedTuple):
    """A sentence as numbers, with `END` last, and the words that they are parts of, with `</s>` last."""

    ids: list[int]
    words: list[str]  # as they were written
    word_of: list[int]  # for each id, the index of its word in `words`


class Vocabulary(ABC):
    """Text to numbers and back.

    What counts as a word, for pictures of attention, is up to the vocabulary: what stands between spaces, or for one of
    characters each character. With `lowercase`, texts are read, and so written, in lower case.
    """

    between_words = " "

    def __init__(self, *, lowercase: bool = False) -> None:
        self.lowercase = lowercase

    def tidy(self, text: str) -> str:
        """The text as this vocabulary reads it."""
        return tidy(text, lowercase=self.lowercase)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def split(self, text: str) -> list[tuple[str, list[int]]]:
        """The words of a text, each with its numbers."""

    @abstractmethod
    def join(self, ids: list[int]) -> list[tuple[str, list[int]]]:
        """The words that these numbers write, each with its numbers; no special numbers among them."""

    @abstractmethod
    def text(self, ids: list[int]) -> str:
        """What these numbers write."""

    def piece(self, number: int) -> str:
        """One number by itself, as pictures show it."""
        return SPECIAL[number] if number < len(SPECIAL) else self.text([number])

    def pieces(self) -> list[str]:
        """All of them, in the order of their numbers."""
        return [self.piece(number) for number in range(len(self))]

    @abstractmethod
    def content(self) -> bytes:
        """What the vocabulary's own file holds."""

    def save(self, path: Path) -> None:
        """Write the vocabulary's own file."""
        write_file(path, self.content())

    def encode(self, text: str) -> Tokens:
        """The numbers of a text, `END` last."""
        return _with_end(self.split(text))

    def has_mask(self) -> bool:
        """Whether `<mask>` has a number of its own, as in a vocabulary that was learnt with it."""
        ids = self.encode(MASK).ids
        return len(ids) == 2 and ids[0] != UNKNOWN  # the other is END

    def decode(self, ids: list[int]) -> tuple[str, Tokens]:
        """The text of the numbers up to the first `END`, and its words, as `encode` gives them."""
        ids = ids[: ids.index(END)] if END in ids else ids
        ids = [number for number in ids if number >= len(SPECIAL)]
        return self.text(ids), _with_end(self.join(ids))


def _with_end(words: list[tuple[str, list[int]]]) -> Tokens:
    words = [*words, (SPECIAL[END], [END])]
    return Tokens(
        [number for _, ids in words for number in ids],
        [word for word, _ in words],
        [index for index, (_, ids) in enumerate(words) for _ in ids],
    )


def tidy(text: str, *, lowercase: bool = False) -> str:
    """Letters composed (NFC), and one space between words: two ways to type a sentence are the same sentence."""
    text = text.lower() if lowercase else text
    if text.isascii():
        return " ".join(text.split())
    return " ".join(" ".join(map(_composed, text.split())).split())  # what is composed may be a space


def _composed(word: str) -> str:
    """In pieces where a word is none: the time that marks take which follow each other grows with their square."""
    pieces = (word[first : first + _PIECE] for first in range(0, len(word), _PIECE))
    return "".join(unicodedata.normalize("NFC", piece) for piece in pieces)
