"""What every vocabulary for running text does: all of the text, as it is, and as fast as it can be read."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saccade.text.documents import PIECE, Piece
from saccade.text.vocabularies.vocabulary import Vocabulary

TokenIds = NDArray[np.unsignedinteger[Any]]


class RunningVocabulary(Vocabulary):
    """Text to numbers and back, with its newlines and all of its spaces: nothing is tidied.

    The words of `encode`, one behind the other, are the text.
    """

    def tidy(self, text: str) -> str:
        return text

    @abstractmethod
    def encode_ids(self, text: str) -> TokenIds:
        """The numbers of a text, as `encode` gives them, without an end."""

    @staticmethod
    def safe_end(text: str) -> int:
        """How many of the first characters have the same numbers, whatever follows the text; 0 if that is unknown."""
        return len(text)


def cut_safely(pieces: Iterable[Piece], safe_end: Callable[[str], int]) -> Iterator[Piece]:
    """The same documents in pieces whose numbers, one behind the other, are those of the whole.

    What may go on in the next piece is kept for it. A word that is longer than a piece is cut all the same.
    """
    rest = ""
    for piece in pieces:
        text = rest + piece.text
        end = len(text) if piece.ends else safe_end(text)
        if end == 0 and len(text) > PIECE:
            end = len(text)
        if end or piece.ends:
            yield Piece(text[:end], piece.ends)
        rest = text[end:]
