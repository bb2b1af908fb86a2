"""Vocabularies for running text, of which a language model reads and writes all: newlines and spaces as well."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import Field

from saccade.base.files import make_folder
from saccade.base.settings import Settings
from saccade.text.documents import Piece
from saccade.text.vocabularies.running.listed import RunningCharacters, RunningWords
from saccade.text.vocabularies.running.subwords import RunningSubwords
from saccade.text.vocabularies.running.utf8 import Utf8Bytes
from saccade.text.vocabularies.running.vocabulary import RunningVocabulary, TokenIds, cut_safely

_KINDS: dict[str, type[RunningCharacters | RunningWords | RunningSubwords | Utf8Bytes]] = {
    "characters": RunningCharacters,
    "words": RunningWords,
    "subwords": RunningSubwords,
    "bytes": Utf8Bytes,
}
_ENOUGH = 16 << 20  # characters, from which subwords are learnt in memory


class RunningVocabularySettings(Settings):
    """How running text becomes numbers."""

    kind: Literal["characters", "bytes", "words", "subwords"] = "characters"
    method: Literal["bpe", "unigram"] = "bpe"  # of subwords
    size: Annotated[int, Field(ge=8, le=1_000_000)] = 8000  # at most; there are always 256 bytes
    min_frequency: Annotated[int, Field(ge=1)] = 1  # of words and characters: how often one must occur


class RunningText(Protocol):
    """What is learnt from: documents in files, a `Corpus`, or others."""

    def __len__(self) -> int: ...

    def fingerprint(self) -> str: ...

    def pieces(self) -> Iterator[Piece]: ...


def learn_running_vocabulary(
    corpus: RunningText, settings: RunningVocabularySettings, tell: Callable[[str], None] = lambda text: None
) -> RunningVocabulary:
    """The vocabulary of a training corpus; `tell` is told if only a part of it is learnt from."""
    if settings.kind == "bytes":
        return Utf8Bytes()
    texts = (piece.text for piece in cut_safely(corpus.pieces(), _KINDS[settings.kind].safe_end))
    if settings.kind == "subwords":
        every = -(-len(corpus) // _ENOUGH)
        if every > 1:
            tell(f"vocabulary: subwords are learnt from one line in {every}, which is some {_ENOUGH:,} characters")
        return RunningSubwords.learn(texts, size=settings.size, method=settings.method, every=every)
    kind = RunningCharacters if settings.kind == "characters" else RunningWords
    return kind.learn(texts, size=settings.size, min_frequency=settings.min_frequency)


def running_vocabulary_of(
    corpus: RunningText,
    settings: RunningVocabularySettings,
    folder: Path,
    tell: Callable[[str], None] = lambda text: None,
) -> RunningVocabulary:
    """The vocabulary that a training keeps in `folder`; if it is not there yet, it is learnt from the corpus."""
    if running_vocabulary_path(settings, folder).exists():
        return load_running_vocabulary(settings, folder)
    vocabulary = learn_running_vocabulary(corpus, settings, tell)
    save_running_vocabulary(vocabulary, settings, folder)
    return vocabulary


def save_running_vocabulary(vocabulary: RunningVocabulary, settings: RunningVocabularySettings, folder: Path) -> Path:
    """Write the vocabulary's own file into `folder`, which is made if need be; gives its path."""
    make_folder(folder)
    path = running_vocabulary_path(settings, folder)
    vocabulary.save(path)
    return path


def load_running_vocabulary(settings: RunningVocabularySettings, folder: Path) -> RunningVocabulary:
    """The vocabulary that `save_running_vocabulary` wrote."""
    return _KINDS[settings.kind].load(running_vocabulary_path(settings, folder))


def running_vocabulary_path(settings: RunningVocabularySettings, folder: Path) -> Path:
    """Where a model keeps its vocabulary for running text."""
    return folder / ("text.model" if settings.kind == "subwords" else "text.txt")


__all__ = [
    "RunningCharacters",
    "RunningSubwords",
    "RunningText",
    "RunningVocabulary",
    "RunningVocabularySettings",
    "RunningWords",
    "TokenIds",
    "Utf8Bytes",
    "cut_safely",
    "learn_running_vocabulary",
    "load_running_vocabulary",
    "running_vocabulary_of",
    "running_vocabulary_path",
    "save_running_vocabulary",
]
