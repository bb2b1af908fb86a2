"""Characters and words of running text; white space is among them."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import numpy as np

from saccade.base.errors import InputError
from saccade.text.vocabularies.listed import Characters, Words
from saccade.text.vocabularies.running.vocabulary import RunningVocabulary, TokenIds
from saccade.text.vocabularies.vocabulary import SPECIAL, UNKNOWN

_WORD = re.compile(r" ?\S+|\s")


class RunningCharacters(RunningVocabulary, Characters):
    """Each character has a number, newlines and spaces as well."""

    def __init__(self, entries: Iterable[str], *, lowercase: bool = False) -> None:
        super().__init__(entries, lowercase=lowercase)
        characters = self.entries[len(SPECIAL) :]
        codes = [ord(character) for character in characters]
        # by code point; the last stands for all beyond
        self._table = np.full(max(codes, default=0) + 2, UNKNOWN, dtype=np.uint32)
        self._table[codes] = np.arange(len(SPECIAL), len(self))

    @classmethod
    def load(cls, path: Path, *, lowercase: bool = False) -> Self:
        try:
            return super().load(path, lowercase=lowercase)
        except TypeError:  # of ord
            raise InputError(
                f"{path}: damaged, it has lines that are no character; copy the model's folder again"
            ) from None

    def encode_ids(self, text: str) -> TokenIds:
        codes = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype="<u4")
        return self._table[np.minimum(codes, len(self._table) - 1)]


class RunningWords(RunningVocabulary, Words):
    """Each word has a number, with the space before it, if there is one: `the` and ` the` are two words.

    All white space besides is a word for each of its characters. So the numbers of a text are hardly more than its
    words, and it can be written again as it was.
    """

    @staticmethod
    def cut(text: str) -> list[str]:
        return _WORD.findall(text)

    def encode_ids(self, text: str) -> TokenIds:
        number = self._numbers
        return np.array([number.get(word, UNKNOWN) for word in self.cut(text)], dtype=np.uint32)

    def text(self, ids: list[int]) -> str:
        return "".join(self.entries[number] for number in ids)

    @staticmethod
    def safe_end(text: str) -> int:
        return next((index for index in range(len(text) - 1, 0, -1) if text[index].isspace()), 0)
