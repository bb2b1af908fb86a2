"""The text that a language model learns from: the user's, or a made one."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from saccade.base.errors import InputError
from saccade.base.fingerprint import fingerprint
from saccade.tasks.language_modeling.made import make_numbers
from saccade.tasks.language_modeling.public import PUBLIC
from saccade.tasks.language_modeling.recipe import TextDataSettings
from saccade.tasks.public_set import brought_by
from saccade.text.documents import Corpus, Texts, read_corpus, split_corpus

_TRAIN_SHARE = 0.9


class LanguageSplits(NamedTuple):
    """Text to learn from, and text to validate with."""

    train: Corpus | Texts
    valid: Corpus | Texts

    def fingerprint(self) -> str:
        """A short text that other texts do not have."""
        return fingerprint(part.fingerprint() for part in self)


def load_language_splits(settings: TextDataSettings, tell: Callable[[str], None] = lambda text: None) -> LanguageSplits:
    """Read or make the text; `tell` is told what is left out of it."""
    if settings.text is None:
        lines = make_numbers(settings.lines, seed=settings.seed).splitlines(keepends=True)
        cut = int(len(lines) * _TRAIN_SHARE)
        return LanguageSplits(Texts(["".join(lines[:cut])]), Texts(["".join(lines[cut:])]))
    corpus = _read(settings.text, settings, tell)
    if settings.valid is not None:
        return LanguageSplits(corpus, _read(settings.valid, settings, tell))
    return LanguageSplits(*split_corpus(corpus, train_share=_TRAIN_SHARE))


def _read(name: str, settings: TextDataSettings, tell: Callable[[str], None]) -> Corpus:
    if not Path(name).exists():
        raise InputError(
            f"{name}: no such file or folder{brought_by(name, PUBLIC)}; say where yours is: data.text=FILE"
        )
    skip = settings.bad_documents == "skip"
    return read_corpus(Path(name), column=settings.column, names=settings.names, skip=skip, tell=tell)
