"""A vocabulary, extended by the words of one source that it does not know: what a model can write that copies them."""

from itertools import groupby
from typing import Self

from saccade.text.vocabularies.vocabulary import UNKNOWN, Tokens, Vocabulary


class Extended(Vocabulary):
    """The words of a source that the vocabulary has no number for, or not for all of, get the numbers after its last.

    They are numbered as they come, and mean nothing beside that source. To encode the source, take a new one, which
    grows by it. What is written from the encoded source takes `of`, to which no other word is known.
    """

    def __init__(self, known: Vocabulary) -> None:
        super().__init__(lowercase=known.lowercase)
        self._known = known
        self._numbers: dict[str, int] = {}  # of the unknown words
        self._words: dict[int, str] = {}
        self._size = len(known)
        self._grows = True

    @classmethod
    def of(cls, known: Vocabulary, source: Tokens) -> Self:
        """The vocabulary for what is made of this source, which such a vocabulary has encoded."""
        extended = cls(known)
        for number, word in zip(source.ids, source.word_of, strict=True):
            if number >= len(known):
                extended._add(source.words[word], number)
        extended._grows = False
        return extended

    def __len__(self) -> int:
        return self._size

    def split(self, text: str) -> list[tuple[str, list[int]]]:
        return [(word, self._number(word) if UNKNOWN in ids else ids) for word, ids in self._known.split(text)]

    def _number(self, word: str) -> list[int]:
        if word not in self._numbers and self._grows:
            self._add(word, self._size)
        return [self._numbers.get(word, UNKNOWN)]

    def _add(self, word: str, number: int) -> None:
        self._numbers[word], self._words[number] = number, word
        self._size = max(self._size, number + 1)

    def join(self, ids: list[int]) -> list[tuple[str, list[int]]]:
        joined: list[tuple[str, list[int]]] = []
        for is_known, run in groupby(ids, lambda number: number < len(self._known)):
            numbers = list(run)
            joined += self._known.join(numbers) if is_known else [(self._words[number], [number]) for number in numbers]
        return joined

    def text(self, ids: list[int]) -> str:
        parts: list[str] = []
        for is_known, run in groupby(ids, lambda number: number < len(self._known)):
            numbers = list(run)
            parts += [self._known.text(numbers)] if is_known else [self._words[number] for number in numbers]
        return self._known.between_words.join(parts)

    def piece(self, number: int) -> str:
        return self._known.piece(number) if number < len(self._known) else self._words[number]

    def content(self) -> bytes:
        raise TypeError("the words of one source have no file")
