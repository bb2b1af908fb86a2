"""Vocabularies that are a list: of words, or of characters."""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from saccade.base.errors import InputError
from saccade.base.files import read_own
from saccade.text.vocabularies.vocabulary import MASK, MOST_BYTES, SPECIAL, UNKNOWN, Vocabulary

_ESCAPED = {"\\": "\\\\", "\n": "\\n"}  # an entry may be the end of a line


class ListedVocabulary(Vocabulary):
    r"""Numbers in the order of a list. Its file has an entry a line, special ones first; a newline is `\n` there."""

    def __init__(self, entries: Iterable[str], *, lowercase: bool = False) -> None:
        super().__init__(lowercase=lowercase)
        self.entries = [*SPECIAL, *entries]
        self._numbers = {entry: number for number, entry in enumerate(self.entries) if number >= len(SPECIAL)}

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        *,
        size: int | None = None,
        min_frequency: int = 1,
        lowercase: bool = False,
        mask: bool = False,
    ) -> Self:
        """The entries that the texts have at least `min_frequency` times, the most frequent first, at most `size`.

        With `mask`, the first entry is `<mask>`.
        """
        reader = cls((), lowercase=lowercase)
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(cls.cut(reader.tidy(text)))
        frequent = sorted(counts.items(), key=lambda item: (-item[1], item[0]))  # ties by the alphabet, not by chance
        room = None if size is None else max(size - len(SPECIAL), 0)
        entries = [entry for entry, count in frequent if count >= min_frequency]
        if mask:
            entries = [MASK, *(entry for entry in entries if entry != MASK)]
        return cls(entries[:room], lowercase=lowercase)

    @classmethod
    def load(cls, path: Path, *, lowercase: bool = False) -> Self:
        try:
            lines = read_own(path, most=MOST_BYTES).decode("utf-8").removesuffix("\n").split("\n")
        except UnicodeDecodeError:
            raise InputError(f"{path}: damaged, it is not UTF-8; copy the model's folder again") from None
        if tuple(lines[: len(SPECIAL)]) != SPECIAL:
            raise InputError(f"{path}: damaged, it does not begin with {' '.join(SPECIAL)}; copy the folder again")
        return cls([_unescaped(line) for line in lines[len(SPECIAL) :]], lowercase=lowercase)

    def content(self) -> bytes:
        return "".join(f"{_escaped(entry)}\n" for entry in self.entries).encode()

    def __len__(self) -> int:
        return len(self.entries)

    @staticmethod
    @abstractmethod
    def cut(text: str) -> list[str]:
        """The entries that a tidy text is made of."""

    def split(self, text: str) -> list[tuple[str, list[int]]]:
        return [(entry, [self._numbers.get(entry, UNKNOWN)]) for entry in self.cut(self.tidy(text))]

    def join(self, ids: list[int]) -> list[tuple[str, list[int]]]:
        return [(self.entries[number], [number]) for number in ids]


class Characters(ListedVocabulary):
    """Each character has a number, and so has `<mask>` as a whole, if it is an entry."""

    between_words = ""

    @staticmethod
    def cut(text: str) -> list[str]:
        return list(text)

    def split(self, text: str) -> list[tuple[str, list[int]]]:
        if MASK not in self._numbers:
            return super().split(text)
        parts = re.split(f"({MASK})", self.tidy(text))
        entries = [entry for part in parts for entry in ([part] if part == MASK else part)]
        return [(entry, [self._numbers.get(entry, UNKNOWN)]) for entry in entries]

    def text(self, ids: list[int]) -> str:
        return "".join(self.entries[number] for number in ids)


class Words(ListedVocabulary):
    """Each word, which is what stands between spaces, has a number."""

    @staticmethod
    def cut(text: str) -> list[str]:
        return text.split()

    def text(self, ids: list[int]) -> str:
        return " ".join(self.entries[number] for number in ids)


def _escaped(entry: str) -> str:
    return re.sub(r"[\\\n]", lambda sign: _ESCAPED[sign[0]], entry)


def _unescaped(line: str) -> str:
    return re.sub(r"\\([\\n])", lambda sign: "\n" if sign[1] == "n" else "\\", line)
