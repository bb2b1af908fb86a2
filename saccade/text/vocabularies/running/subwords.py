"""Subwords of running text, by sentencepiece: any text comes back as it was."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Literal

import numpy as np
import sentencepiece

from saccade.text.vocabularies.running.vocabulary import RunningVocabulary, TokenIds
from saccade.text.vocabularies.subwords import LONGEST_KEPT, SPACE, learn_pieces, load_pieces

_OWN = ("\n", "\t")  # pieces by themselves, and never part of another; sentencepiece keeps the tab for its own use
_WORD = re.compile(r" ?[^ \n\t]+|[ \n\t]")
_RESERVED = str.maketrans({"▅": " "})  # sentencepiece would pass over lines that have it


class RunningSubwords(RunningVocabulary):
    """Pieces of words, as `Subwords` learns them, of text that is not normalised: a space begins a word.

    A character that the text which was learnt from has not is written as its bytes, so that nothing is unknown.
    """

    def __init__(self, model: bytes) -> None:
        super().__init__()
        self._model = model
        self._pieces = pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
        self._bytes = {
            number: bytes([int(pieces.id_to_piece(number)[3:5], 16)])
            for number in range(len(self))
            if pieces.is_byte(number)
        }
        # sentencepiece writes a space with a sign of its own; where a text has that sign, it is its bytes
        by_byte = {byte: number for number, byte in self._bytes.items()}
        self._sign = [by_byte[bytes([byte])] for byte in SPACE.encode()] if by_byte else []
        self._encode_known = lru_cache(maxsize=2**16)(self._encode_word)

    @classmethod
    def learn(
        cls, texts: Iterable[str], *, size: int, method: Literal["bpe", "unigram"] = "bpe", every: int = 1
    ) -> "RunningSubwords":
        """`size` pieces, 256 bytes among them, or as many as the texts have; learnt from every n-th of their lines."""
        options = {
            "normalization_rule_name": "identity",
            "add_dummy_prefix": False,
            "remove_extra_whitespaces": False,
            "byte_fallback": True,
            "user_defined_symbols": list(_OWN),
            "max_sentence_length": 2**24,
        }
        lines = islice(_lines(texts), 0, None, every)
        return cls(learn_pieces(lines, size=size, method=method, **options))

    @classmethod
    def load(cls, path: Path) -> "RunningSubwords":
        return load_pieces(path, cls)

    def content(self) -> bytes:
        return self._model

    def __len__(self) -> int:
        return self._pieces.get_piece_size()

    def encode_ids(self, text: str) -> TokenIds:
        return np.fromiter(chain.from_iterable(map(self._encode, _WORD.findall(text))), dtype=np.uint32)

    def split(self, text: str) -> list[tuple[str, list[int]]]:
        return [(word, list(self._encode(word))) for word in _WORD.findall(text)]

    def _encode(self, word: str) -> list[int]:
        return self._encode_known(word) if len(word) <= LONGEST_KEPT else self._encode_word(word)

    def _encode_word(self, word: str) -> list[int]:
        first, *others = map(self._pieces.encode, word.split(SPACE))
        return [*first, *chain.from_iterable([*self._sign, *other] for other in others)]

    def join(self, ids: list[int]) -> list[tuple[str, list[int]]]:
        words: list[list[int]] = []
        for number in ids:
            piece = self._pieces.id_to_piece(number)
            if not words or piece.startswith(SPACE) or piece in _OWN or self._pieces.id_to_piece(words[-1][0]) in _OWN:
                words.append([])
            words[-1].append(number)
        return [(self.text(word), word) for word in words]

    def piece(self, number: int) -> str:
        return self._pieces.id_to_piece(number)

    def score(self, number: int) -> float:
        """How early a piece is merged, or how likely it is, as sentencepiece has it."""
        return self._pieces.get_score(number)

    def text(self, ids: list[int]) -> str:
        content = (self._bytes.get(number) or self.piece(number).replace(SPACE, " ").encode() for number in ids)
        return b"".join(content).decode(errors="replace")

    @staticmethod
    def safe_end(text: str) -> int:
        return max(0, *(text.rfind(sign, 1) for sign in (" ", *_OWN)))


def _lines(texts: Iterable[str]) -> Iterator[str]:
    """What is learnt from: the lines that have something in them."""
    for text in texts:
        yield from filter(None, text.translate(_RESERVED).split("\n"))
