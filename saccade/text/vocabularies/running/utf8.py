"""The bytes of UTF-8: a vocabulary of 256, for any text there is."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from saccade.base.errors import InputError
from saccade.base.files import read_own
from saccade.text.vocabularies.running.vocabulary import RunningVocabulary, TokenIds
from saccade.text.vocabularies.vocabulary import MOST_BYTES, SPECIAL

_CONTENT = b"the bytes of UTF-8\n"  # nothing is learnt, so its file only says what it is
_LONGEST = 4  # bytes of a character
_BROKEN = "\ufffd"


class Utf8Bytes(RunningVocabulary):
    """Each byte has a number. A byte that is part of no character, as a model may write it, is read as `�`."""

    @classmethod
    def load(cls, path: Path) -> "Utf8Bytes":
        if read_own(path, most=MOST_BYTES) != _CONTENT:
            raise InputError(f"{path}: damaged, wanted {_CONTENT.decode().strip()!r}; copy the model's folder again")
        return cls()

    def content(self) -> bytes:
        return _CONTENT

    def __len__(self) -> int:
        return len(SPECIAL) + 256

    def encode_ids(self, text: str) -> TokenIds:
        return np.frombuffer(_encoded(text), dtype=np.uint8).astype(np.uint16) + np.uint16(len(SPECIAL))

    def split(self, text: str) -> list[tuple[str, list[int]]]:
        return [(character, [len(SPECIAL) + byte for byte in _encoded(character)]) for character in text]

    def join(self, ids: list[int]) -> list[tuple[str, list[int]]]:
        return list(_characters(_bytes_of(ids)))

    def text(self, ids: list[int]) -> str:
        try:
            return _bytes_of(ids).decode()
        except UnicodeDecodeError:
            return "".join(character for character, _ in self.join(ids))

    def piece(self, number: int) -> str:
        byte = number - len(SPECIAL)
        return super().piece(number) if byte < 128 else f"<0x{byte:02X}>"


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")  # half a character has bytes, too; they are read as broken


def _bytes_of(ids: list[int]) -> bytes:
    return bytes(number - len(SPECIAL) for number in ids)


def _characters(content: bytes) -> Iterator[tuple[str, list[int]]]:
    """Each character with the numbers of its bytes; a byte that belongs to none is a broken one by itself."""
    first = 0
    while first < len(content):
        character, length = _BROKEN, 1
        for end in range(first + 1, min(first + _LONGEST, len(content)) + 1):
            try:
                character, length = content[first:end].decode(), end - first
                break
            except UnicodeDecodeError:
                continue
        yield character, [len(SPECIAL) + byte for byte in content[first : first + length]]
        first += length
