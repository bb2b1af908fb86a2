"""The texts that a classifier learns from: the user's, or made ones."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from saccade.base.errors import InputError
from saccade.base.fingerprint import fingerprint
from saccade.base.settings_errors import short
from saccade.tasks.text_classification.labelled import LabelledText, as_read, labels_of, read_labelled_texts, stratified
from saccade.tasks.text_classification.made import make_reviews
from saccade.tasks.text_classification.recipe import LabelledTextSettings
from saccade.text.documents import Texts


class LabelledTexts(NamedTuple):
    """Texts to learn from, and texts to validate with."""

    train: Sequence[LabelledText]
    valid: Sequence[LabelledText]

    @property
    def labels(self) -> list[str]:
        """All labels that there are."""
        return labels_of([*self.train, *self.valid])

    def corpus(self) -> Texts:
        """What the vocabulary is learnt from."""
        return Texts([as_read(one.text) for one in self.train])

    def fingerprint(self) -> str:
        """A short text that other texts do not have."""
        return fingerprint(text for part in self for text in (str(len(part)), *(str(one[:2]) for one in part)))

    def expect_texts(self) -> None:
        """Raise unless there are texts in both, and two labels to tell apart: a program may give whatever it has."""
        for name, texts in (("train", self.train), ("valid", self.valid)):
            if not texts:
                raise InputError(f"data: found no texts in {name}, wanted at least one")
            for number, one in enumerate(texts, start=1):
                if not isinstance(one, LabelledText) or not all(isinstance(value, str) for value in one):
                    wanted = "wanted LabelledText(text, label)"
                    raise InputError(f"data: {name}, text {number}: found {short(one)}, {wanted}")
        if len(self.labels) < 2:
            raise InputError(f"data: all texts have the label {self.labels[0]!r}; wanted at least two to tell apart")


def load_labelled_texts(
    settings: LabelledTextSettings, tell: Callable[[str], None] = lambda text: None
) -> LabelledTexts:
    """Read or make the texts; `tell` is told what is left out of them."""
    if settings.make is not None:
        train = make_reviews(settings.texts, seed=f"train {settings.seed}")
        valid = make_reviews(settings.validation_size, seed=f"valid {settings.seed}")
        return LabelledTexts(_limited(train, settings), valid)
    assert settings.train is not None
    texts = _read(settings.train, settings, tell)
    labels = labels_of(texts)
    if len(labels) < 2:
        raise InputError(f"{settings.train}: all texts have the label {labels[0]!r}; wanted at least two to tell apart")
    if settings.valid is not None:
        valid = _read(settings.valid, settings, tell)
        strange = [one for one in valid if one.label not in labels]
        if strange:
            raise InputError(
                f"{strange[0].where}: found the label {strange[0].label!r}, which {settings.train} does not have"
                f" ({len(strange):,} such texts); it has {_named(labels)}"
            )
        return LabelledTexts(_limited(texts, settings), valid)
    order = stratified(texts, seed=f"hold out {settings.seed}")
    held_out = set(order[: min(settings.validation_size, max(len(order) // 10, 1))])
    train = [one for index, one in enumerate(texts) if index not in held_out]
    return LabelledTexts(_limited(train, settings), [texts[index] for index in sorted(held_out)])


def _limited(texts: Sequence[LabelledText], settings: LabelledTextSettings) -> list[LabelledText]:
    """The first so many of an order in which the labels are mixed."""
    if settings.limit is None:
        return list(texts)
    if settings.limit > len(texts):
        raise InputError(f"data.limit: found {settings.limit:,}, but there are {len(texts):,} texts to learn from")
    return [texts[index] for index in stratified(texts, seed=f"limit {settings.seed}")[: settings.limit]]


def _read(name: str, settings: LabelledTextSettings, tell: Callable[[str], None]) -> list[LabelledText]:
    if not Path(name).exists():
        raise InputError(f"{name}: no such file; say where yours is: data.train=FILE")
    columns = {"text_column": settings.text_column, "label_column": settings.label_column}
    return read_labelled_texts(Path(name), **columns, skip=settings.bad_lines == "skip", tell=tell)


def _named(labels: Sequence[str], most: int = 10) -> str:
    return ", ".join(labels[:most]) + (f" and {len(labels) - most} others" if len(labels) > most else "")
