"""Stories as numbers: the list of words, and arrays in which each sentence stands once.

Letters: `N` questions, `S` sentences of the longest story, `U` different sentences, `J` words of the longest of them.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saccade.base.errors import InputError
from saccade.base.files import decode_lines, read_own, write_file
from saccade.tasks.story_qa.stories import Question

NOTHING = 0  # the number of no word, and of no sentence
_MOST_BYTES = 64 << 20  # of a list of words
Ids = NDArray[np.int64]


class StoryWords:
    """The words of stories, questions and answers by number; an answer is one word, whatever it is made of.

    Its file has one word a line, and where an answer is written otherwise, a tab and how: `fred<TAB>Fred`.
    """

    def __init__(self, words: Iterable[str], written: dict[str, str] | None = None) -> None:
        self.words = ["", *words]  # number 0 is no word
        self.written = written or {}
        self._numbers = {word: number for number, word in enumerate(self.words) if number}

    @classmethod
    def learn(cls, questions: Sequence[Question]) -> "StoryWords":
        """All words of the questions, in the order of the alphabet."""
        known = {word for one in questions for sentence in (*one.story, one.question) for word in sentence}
        written = {one.answer.lower(): one.answer for one in questions}
        differing = {word: answer for word, answer in sorted(written.items()) if word != answer}
        return cls(sorted(known | written.keys()), differing)

    @classmethod
    def load(cls, path: Path) -> "StoryWords":
        lines = decode_lines(read_own(path, most=_MOST_BYTES), str(path))
        rows = [line.partition("\t") for line in lines]
        words = [word for word, _, _ in rows]
        if not words or "" in words or len(set(words)) < len(words):
            raise InputError(f"{path}: damaged, a word is missing or stands there twice; copy the model's folder again")
        return cls(words, {word: written for word, tab, written in rows if tab})

    def save(self, path: Path) -> None:
        rows = (f"{word}\t{self.written[word]}" if word in self.written else word for word in self.words[1:])
        write_file(path, "".join(f"{row}\n" for row in rows).encode())

    def __len__(self) -> int:
        return len(self.words)

    def number(self, word: str) -> int:
        """Of a word, or of an answer; `NOTHING` if it is not known."""
        return self._numbers.get(word.lower(), NOTHING)

    def text(self, number: int) -> str:
        """An answer, as it is written."""
        word = self.words[number]
        return self.written.get(word, word)

    def numbers(self, sentence: Sequence[str]) -> tuple[int, ...]:
        """Of the words that are known; the others are passed over."""
        return tuple(number for word in sentence if (number := self._numbers.get(word, NOTHING)) != NOTHING)


class StoryArrays(NamedTuple):
    """Questions as numbers. The sentences of a story are counted back from the question: the most recent is first."""

    sentences: Ids  # [U, J], each different one once, NOTHING after its last word; the first is empty
    stories: Ids  # [N, S], indices into `sentences`, the empty one after the first sentence of the story
    questions: Ids  # [N], indices into `sentences`
    answers: Ids  # [N], numbers of words

    def select(self, indices: Ids) -> "StoryArrays":
        """Some of the questions, with the sentences that they need and no others."""
        stories, questions = self.stories[indices], self.questions[indices]
        width = max(1, int((stories != NOTHING).sum(1).max(initial=0)))
        asked = np.concatenate([[NOTHING], stories[:, :width].ravel(), questions])
        used, where = np.unique(asked, return_inverse=True)
        sentences = self.sentences[used]
        longest = max(1, int((sentences != NOTHING).sum(1).max()))
        count = len(indices)
        inner = where[1 : len(where) - count].reshape(count, width)
        return StoryArrays(sentences[:, :longest], inner, where[len(where) - count :], self.answers[indices])


def encode_stories(questions: Sequence[Question], words: StoryWords, *, memory_size: int) -> StoryArrays:
    """The questions as arrays, each with the last `memory_size` sentences of its story.

    A question in which no word is known is an `InputError`. A sentence in which none is known keeps its place, with a
    word that is none: it has a time and no content.
    """
    rows: dict[tuple[int, ...], int] = {(): 0}

    def row_of(sentence: Sequence[str]) -> int:
        return rows.setdefault(words.numbers(sentence) or (NOTHING,), len(rows))

    recent = [[row_of(sentence) for sentence in reversed(one.story[-memory_size:])] for one in questions]
    asked = [row_of(one.question) for one in questions]
    blank = rows.get((NOTHING,))
    for one, found in zip(questions, asked, strict=True):
        if found == blank:
            raise InputError(
                f"{one.where or 'question'}: {' '.join(one.question)[:60]!r} has no word that the model knows;"
                " ask with the words of the stories that it learnt from"
            )
    return StoryArrays(
        _filled(list(rows)),
        _filled(recent),
        np.array(asked, dtype=np.int64),
        np.array([words.number(one.answer) for one in questions], dtype=np.int64),
    )


def unknown_words(question: Question, words: StoryWords, *, memory_size: int) -> list[str]:
    """What is passed over in the last `memory_size` sentences of a story and in its question: each word once."""
    read = (*question.story[-memory_size:], question.question)
    return list(dict.fromkeys(word for sentence in read for word in sentence if words.number(word) == NOTHING))


def _filled(rows: Sequence[Sequence[int]]) -> Ids:
    """`[rows, longest]`, with `NOTHING` after the shorter ones."""
    array = np.full((len(rows), max(1, max(map(len, rows), default=1))), NOTHING, dtype=np.int64)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return array
