"""Vocabularies: subwords, characters or words, for one language or for two together."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from saccade.base.files import make_folder
from saccade.base.settings import Settings
from saccade.text.pairs import Pair
from saccade.text.vocabularies.listed import Characters, ListedVocabulary, Words
from saccade.text.vocabularies.subwords import Subwords
from saccade.text.vocabularies.vocabulary import END, MASK, PAD, SPECIAL, START, UNKNOWN, Tokens, Vocabulary, tidy

VOCABULARY = "vocabulary"  # the folder of a run that its vocabulary is kept in

_KINDS: dict[str, type[Subwords | Characters | Words]] = {
    "subwords": Subwords,
    "characters": Characters,
    "words": Words,
}


class VocabularySettings(Settings):
    """How texts become numbers."""

    kind: Literal["subwords", "characters", "words"] = "subwords"
    method: Literal["bpe", "unigram"] = "bpe"  # of subwords
    size: Annotated[int, Field(ge=8, le=1_000_000)] = 8000  # at most, for each vocabulary
    min_frequency: Annotated[int, Field(ge=1)] = 1  # of words and characters: how often one must occur
    joint: bool = False  # one vocabulary for both languages
    lowercase: bool = False  # read and write in lower case
    bpe_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0  # in training: how often a merge fails (Provilkov 2020)

    @model_validator(mode="after")
    def _merges_are_there_to_drop(self) -> "VocabularySettings":
        if self.bpe_dropout and (self.kind, self.method) != ("subwords", "bpe"):
            raise ValueError("bpe_dropout: wanted 0, or kind: subwords with method: bpe")
        return self


class Vocabularies(NamedTuple):
    """The vocabulary to read with and the one to write with; the same one, if they are joint."""

    source: Vocabulary
    target: Vocabulary

    @property
    def joint(self) -> bool:
        return self.source is self.target

    def sampler(self, *, rate: float, seed: int) -> Callable[[Pair, random.Random], tuple[list[int], list[int]]]:
        """Numbers of both sides of a pair, with the words of both cut by merges that fail now and then."""
        source, target = self
        if not isinstance(source, Subwords) or not isinstance(target, Subwords):
            raise TypeError("only subwords have merges")
        read, write = (side.dropped_merges(rate=rate, seed=seed) for side in (source, target))
        return lambda pair, rng: (
            source.sample(pair.source, read, rng),
            target.sample(pair.target, write, rng),
        )


def learn_vocabularies(pairs: Sequence[Pair], settings: VocabularySettings) -> Vocabularies:
    """The vocabularies of a training corpus."""
    learnt = [learn_vocabulary(texts, settings) for texts in texts_of(pairs, joint=settings.joint).values()]
    return Vocabularies(learnt[0], learnt[-1])


def texts_of(pairs: Sequence[Pair], *, joint: bool) -> dict[str, list[str]]:
    """What each vocabulary is learnt from, by the name of its file."""
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    return {"joint": [*sources, *targets]} if joint else {"source": sources, "target": targets}


def complete_vocabularies(pairs: Sequence[Pair], settings: VocabularySettings, folder: Path) -> None:
    """Learn the vocabularies whose files are not in `folder` yet, and write them there."""
    make_folder(folder)
    paths = dict.fromkeys(_paths(settings, folder))
    for path, texts in zip(paths, texts_of(pairs, joint=settings.joint).values(), strict=True):
        if not path.exists():
            learn_vocabulary(texts, settings).save(path)


def learn_vocabulary(texts: list[str], settings: VocabularySettings, *, mask: bool = False) -> Vocabulary:
    """The vocabulary of these texts; with `mask`, `<mask>` has a number of its own there."""
    common = {"size": settings.size, "lowercase": settings.lowercase, "mask": mask}
    if settings.kind == "subwords":
        return Subwords.learn(texts, method=settings.method, **common)
    kind = Characters if settings.kind == "characters" else Words
    return kind.learn(texts, min_frequency=settings.min_frequency, **common)


def save_vocabularies(vocabularies: Vocabularies, settings: VocabularySettings, folder: Path) -> list[Path]:
    """Write the vocabularies' own files into `folder`, which is made if need be; gives their paths."""
    make_folder(folder)
    paths = _paths(settings, folder)
    for vocabulary, path in zip(vocabularies, paths, strict=True):
        vocabulary.save(path)
    return list(dict.fromkeys(paths))


def remove_vocabularies(folder: Path) -> None:
    """Delete the files that `save_vocabularies` wrote into `folder`, whatever the settings were, and no others."""
    for path in vocabulary_files(folder):
        path.unlink()


def vocabulary_files(folder: Path) -> list[Path]:
    """The files of vocabularies that stand in `folder`."""
    names = (f"{name}.{ending}" for name in ("joint", "source", "target", "text") for ending in ("model", "txt"))
    return [folder / name for name in names if (folder / name).exists()]


def load_vocabularies(settings: VocabularySettings, folder: Path) -> Vocabularies:
    """The vocabularies that `save_vocabularies` wrote."""
    source, target = _paths(settings, folder)
    kind = _KINDS[settings.kind]
    first = kind.load(source, lowercase=settings.lowercase)
    return Vocabularies(first, first if settings.joint else kind.load(target, lowercase=settings.lowercase))


def load_vocabulary(settings: VocabularySettings, folder: Path) -> Vocabulary:
    """The vocabulary of a model that reads no words, and only writes."""
    return load_vocabulary_file(settings, vocabulary_path(settings, folder))


def load_vocabulary_file(settings: VocabularySettings, path: Path) -> Vocabulary:
    """The vocabulary of a file."""
    return _KINDS[settings.kind].load(path, lowercase=settings.lowercase)


def vocabulary_path(settings: VocabularySettings, folder: Path) -> Path:
    """Where such a model keeps its vocabulary."""
    return _paths(settings, folder)[1]


def _paths(settings: VocabularySettings, folder: Path) -> tuple[Path, Path]:
    ending = "model" if settings.kind == "subwords" else "txt"
    names = ("joint", "joint") if settings.joint else ("source", "target")
    return folder / f"{names[0]}.{ending}", folder / f"{names[1]}.{ending}"


def have_vocabularies(settings: VocabularySettings, folder: Path) -> bool:
    """Whether the files that `save_vocabularies` writes stand in `folder`."""
    return all(path.exists() for path in _paths(settings, folder))


__all__ = [
    "END",
    "MASK",
    "PAD",
    "SPECIAL",
    "START",
    "UNKNOWN",
    "Characters",
    "ListedVocabulary",
    "Subwords",
    "Tokens",
    "Vocabularies",
    "Vocabulary",
    "VocabularySettings",
    "Words",
    "complete_vocabularies",
    "have_vocabularies",
    "learn_vocabularies",
    "learn_vocabulary",
    "load_vocabularies",
    "load_vocabulary",
    "load_vocabulary_file",
    "remove_vocabularies",
    "save_vocabularies",
    "texts_of",
    "tidy",
    "vocabulary_files",
    "vocabulary_path",
]
