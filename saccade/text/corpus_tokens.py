"""A corpus as token arrays: each document begins with `START` and ends with `END`."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from saccade.base.fingerprint import fingerprint
from saccade.text.token_arrays import TokenArrays, TokenPiece, token_arrays
from saccade.text.vocabularies.running import RunningText, RunningVocabulary, cut_safely
from saccade.text.vocabularies.vocabulary import END, START

_VERSION = "1"  # of how text becomes tokens; another one makes all arrays anew


def corpus_tokens(
    corpus: RunningText,
    vocabulary: RunningVocabulary,
    folder: Path,
    *,
    count: Callable[[int, int], None] = lambda done, total: None,
    tell: Callable[[str], None] = lambda text: None,
) -> TokenArrays:
    """The tokens of a corpus, from `folder` if they are there, else made and kept there.

    They are known by the text and the vocabulary. As they are made, `count` is told of how many characters there are
    tokens, and of how many there are.
    """
    name = fingerprint([_VERSION, corpus.fingerprint(), type(vocabulary).__name__, vocabulary.content()])
    pieces = partial(_encoded, corpus, vocabulary, count)
    return token_arrays(folder, pieces, name=name, vocabulary_size=len(vocabulary), tell=tell)


def _encoded(
    corpus: RunningText, vocabulary: RunningVocabulary, count: Callable[[int, int], None]
) -> Iterator[TokenPiece]:
    begins, done = True, 0
    start, end, nothing = (np.array(ids, dtype=np.uint32) for ids in ([START], [END], []))
    for piece in cut_safely(corpus.pieces(), vocabulary.safe_end):
        ids = vocabulary.encode_ids(piece.text)
        ids = np.concatenate([start if begins else nothing, ids, end if piece.ends else nothing])
        yield TokenPiece(ids, piece.ends, len(piece.text), len(piece.text.encode()))
        begins = piece.ends
        done += len(piece.text)
        count(done, len(corpus))
