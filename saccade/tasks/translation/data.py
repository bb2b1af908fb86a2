"""Where a recipe's pairs come from: the user's files, or a corpus that the package makes."""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from saccade.base.errors import InputError
from saccade.base.fingerprint import fingerprint
from saccade.base.settings_errors import short
from saccade.tasks.public_set import brought_by
from saccade.tasks.translation.dates import Dates
from saccade.tasks.translation.made import split_corpus
from saccade.tasks.translation.made_answers import Answers
from saccade.tasks.translation.made_summaries import Summaries
from saccade.tasks.translation.numbers import Numbers
from saccade.tasks.translation.public import PUBLIC
from saccade.tasks.translation.recipe import DataSettings, Files
from saccade.tasks.translation.settings import Purpose
from saccade.text import Pair, Question, expect_full, read_aligned, read_questions, read_table, read_texts
from saccade.text.records import LeftOut

RecordT = TypeVar("RecordT")


class Splits(NamedTuple):
    """Pairs to learn from and pairs to validate with. Of plain text, both sides are the text: noise comes later."""

    train: list[Pair]
    valid: list[Pair]
    answers: Mapping[str, Sequence[str]] = MappingProxyType({})  # of sources of `valid`: all that are right

    def fingerprint(self) -> str:
        """A short text that other pairs do not have."""
        sides = (self.train, self.valid)
        texts = (text for pairs in sides for text in (str(len(pairs)), *chain.from_iterable(pairs)))
        return fingerprint(chain(texts, *self.answers.values()))

    def expect_pairs(self) -> None:
        """Raise unless there are pairs in both, with text on both sides: a program may give whatever it has."""
        for name, pairs in (("train", self.train), ("valid", self.valid)):
            if not pairs:
                raise InputError(f"data: found no pairs in {name}, wanted at least one")
            for number, pair in enumerate(pairs, start=1):
                if not isinstance(pair, Pair) or not all(isinstance(text, str) for text in pair):
                    raise InputError(f"data: {name}, pair {number}: found {short(pair)}, wanted Pair(source, target)")
            expect_full(pairs, where=f"data.{name}")


def load_splits(
    settings: DataSettings, tell: Callable[[str], None] = lambda text: None, *, purpose: Purpose = "translate"
) -> Splits:
    """Read or make the pairs; `tell` is told what is left out of them."""
    if settings.text is not None:
        texts = _read_text(settings.text, settings, tell)
        if settings.valid_text is not None:
            return Splits(texts, _read_text(settings.valid_text, settings, tell))
        if len(texts) < 2:
            raise InputError(f"{settings.text[0]}: one text is too few to train and to validate; give data.valid_text")
        return Splits(*_hold_out(texts, settings))
    if settings.train is None:
        return _made(settings)
    if purpose == "answer":
        return _questions(settings, tell)
    pairs = _read(settings.train, settings, tell)
    if settings.valid is not None:
        return Splits(pairs, _read(settings.valid, settings, tell))
    return Splits(*_hold_out(pairs, settings))


def _questions(settings: DataSettings, tell: Callable[[str], None]) -> Splits:
    train, valid = (
        None if files is None else _read_questions(files, settings, tell) for files in (settings.train, settings.valid)
    )
    assert train is not None
    if valid is None:
        train, valid = _hold_out(train, settings)
    return Splits([one.pair for one in train], [one.pair for one in valid], {one.source: one.answers for one in valid})


def _hold_out(records: list[RecordT], settings: DataSettings) -> tuple[list[RecordT], list[RecordT]]:
    """Those to learn from, and some for validation."""
    if len(records) < 2:
        name = "" if settings.train is None else settings.train.name
        raise InputError(f"{name}: one pair is too few to train and to validate; give data.valid")
    rng = random.Random(f"hold out {settings.seed}")
    held_out = set(rng.sample(range(len(records)), min(settings.validation_size, max(len(records) // 10, 1))))
    train = [record for index, record in enumerate(records) if index not in held_out]
    return train, [records[index] for index in sorted(held_out)]


def _made(settings: DataSettings) -> Splits:
    if settings.make != "numbers":
        corpus = {"dates": Dates, "summaries": Summaries, "answers": Answers}[str(settings.make)](settings.seed)
    else:
        languages = {"source": settings.from_language, "target": settings.to_language}
        corpus = Numbers(settings.seed, **languages, max_number=settings.max_number)
    splits = split_corpus(corpus, {"train": settings.pairs, "valid": settings.validation_size})
    return Splits(splits["train"], splits["valid"])


def locate(pair: Pair, settings: DataSettings, purpose: Purpose) -> str:
    """Where a pair stands, for messages."""
    for files in (settings.train, settings.valid):
        if files is None:
            continue
        if purpose == "answer":
            pairs = [one.pair for one in _read_questions(files, settings, lambda text: None)]
        else:
            pairs = _read(files, settings, lambda text: None)
        if pair in pairs:
            return f"{files.name}, pair {pairs.index(pair) + 1}"
    return "data"


def _read_text(paths: list[str], settings: DataSettings, tell: Callable[[str], None]) -> list[Pair]:
    texts: list[str] = []
    for path in paths:
        if not Path(path).exists():
            raise InputError(f"{path}: no such file or folder; say where yours is: data.text=FILE, or data.text=[A,B]")
        skip = settings.bad_pairs == "skip"
        texts += read_texts(Path(path), names=settings.names, skip=skip, tell=tell)
    return [Pair(text, text) for text in texts]


def _read(files: Files, settings: DataSettings, tell: Callable[[str], None]) -> list[Pair]:
    _expect_there(files)
    left_out = LeftOut() if settings.bad_pairs == "skip" else None
    if files.table is not None:
        columns = {"source": settings.source_column, "target": settings.target_column}
        pairs = read_table(Path(files.table), **columns, left_out=left_out)
    else:
        assert files.source is not None
        assert files.target is not None
        pairs = read_aligned(Path(files.source), Path(files.target), left_out=left_out)
    if left_out is None:
        return expect_full(pairs, where=files.name)
    if left_out.first is not None:
        tell(f"{files.name}: {left_out.describe(kept=len(pairs))}")
    return pairs


def _read_questions(files: Files, settings: DataSettings, tell: Callable[[str], None]) -> list[Question]:
    _expect_there(files)
    if files.table is None:
        raise InputError(f"{files.name}: wanted one file with questions, passages and answers: data.train=FILE")
    left_out = LeftOut("questions") if settings.bad_pairs == "skip" else None
    questions = read_questions(Path(files.table), left_out=left_out)
    if left_out is not None and left_out.first is not None:
        tell(f"{files.name}: {left_out.describe(kept=len(questions))}")
    return answerable(questions, files.table, tell)


def _expect_there(files: Files) -> None:
    for path in (files.table, files.source, files.target):
        if path is not None and not Path(path).exists():
            get = brought_by(path, PUBLIC)
            raise InputError(
                f"{path}: no such file{get}; say where yours are: data.train.source=FILE data.train.target=FILE,"
                " or data.train=FILE for a table, and data.valid in the same way"
            )


def answerable(questions: list[Question], name: str, tell: Callable[[str], None]) -> list[Question]:
    """Those of the questions that have an answer; `tell` is told how many have none."""
    kept = [one for one in questions if one.answers]
    if not kept:
        raise InputError(f"{name}: no question has an answer; wanted some to learn or to score by")
    if len(kept) < len(questions):
        missing = f"{len(questions) - len(kept):,} of {len(questions):,}"
        tell(f"{name}: {missing} questions have no answer, and are left out")
    return kept
