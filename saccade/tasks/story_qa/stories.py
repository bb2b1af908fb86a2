"""Stories with questions: bAbI's own format, and one's own stories as JSON lines.

qa1_..._train.txt   1 Mary moved to the bathroom.              (numbered; the number 1 begins a new story)
                    2 Where is Mary?<TAB>bathroom<TAB>1        (a question, its answer, the lines that it rests on)
stories.jsonl       {"story": ["Mary moved to the bathroom."], "question": "Where is Mary?", "answer": "bathroom"}
                    (and, if it is known, "facts": [0], the sentences that the answer rests on, counted from 0)

Each may be packed: stories.jsonl.gz.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from saccade.base.compressed import plain_path
from saccade.base.errors import InputError
from saccade.base.files import read_lines, write_file
from saccade.base.parse_json import parse_json

LONGEST_SENTENCE = 256  # words
LONGEST_STORY = 10_000  # sentences
_BABI = re.compile(r"qa(\d+)_(.+)_(train|test)\.txt")
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_ASKED = '{"story": ["SENTENCE", ...], "question": "TEXT"}'
_ANSWERED = _ASKED.replace("}", ', "answer": "TEXT"}')


class Question(NamedTuple):
    """A question, the story before it, and the answer."""

    story: tuple[tuple[str, ...], ...]  # the words of each sentence, in the order of the story
    question: tuple[str, ...]
    answer: str  # one label, even where it has several words
    facts: tuple[int, ...] = ()  # the sentences that the answer rests on, counted from 0
    task: str = ""  # of bAbI, such as "1 single-supporting-fact"; otherwise the name of the file
    where: str = ""  # the file and the line
    number: int = 0  # of the story in its file; questions with the same one share their beginning


def story_words(text: str) -> tuple[str, ...]:
    """The words of a sentence: small letters, and nothing between words but hyphens and apostrophes."""
    return tuple(_WORD.findall(text.lower()))


def split_sentences(text: str) -> list[str]:
    """The sentences of a text; each ends with a full stop, a question or exclamation mark, or its line."""
    parts = re.split(r"(?<=[.!?])\s+|\n+", text)
    return [part.strip() for part in parts if story_words(part)]


def read_stories(
    path: Path, *, tasks: Sequence[int] | None = None, split: str = "train", answered: bool = True
) -> list[Question]:
    """The questions of a file, or of the files of a folder of bAbI that are of a `split`, train or test.

    `tasks` chooses some of bAbI's twenty. Questions that are only asked need no answer: `answered=False`.
    """
    if path.is_dir():
        return [question for file in _babi_files(path, tasks, split) for question in read_stories(file)]
    if tasks is not None:
        raise InputError(f"{path}: tasks can be chosen from a folder of bAbI's files; leave data.tasks out")
    lines = read_lines(path)
    questions = (_of_json_lines if plain_path(path).suffix == ".jsonl" else _of_babi)(lines, path, answered=answered)
    if not questions:
        raise InputError(f"{path}: found no question; wanted bAbI's format, or JSON lines in a file *.jsonl")
    return questions


def write_stories(path: Path, questions: Sequence[Question]) -> None:
    """Write questions in bAbI's format. Those with the same `number` that follow each other share one story."""
    lines: list[str] = []
    numbers: list[int] = []  # of each sentence's line
    number: int | None = None
    last = 0
    for one in questions:
        if one.number != number:
            number, last, numbers = one.number, 0, []
        for sentence in one.story[len(numbers) :]:
            last += 1
            numbers.append(last)
            lines.append(f"{last} {' '.join(sentence)}.")
        last += 1
        facts = " ".join(str(numbers[fact]) for fact in one.facts)
        lines.append(f"{last} {' '.join(one.question)}?\t{one.answer}\t{facts}")
    write_file(path, "".join(f"{line}\n" for line in lines).encode())


def _babi_files(folder: Path, tasks: Sequence[int] | None, split: str) -> list[Path]:
    """The files of a split, in the order of their tasks."""
    found: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        match = _BABI.fullmatch(plain_path(path).name)
        if match is None or match[3] != split:
            continue
        number = int(match[1])
        if number in found:
            both = f"{found[number].name} and {path.name}"
            raise InputError(f"{folder}: {both} are both of task {number}; wanted one file of each task")
        found[number] = path
    if not found:
        raise InputError(f"{folder}: no file qa*_{split}.txt there; wanted a folder such as bAbI's en")
    strange = [number for number in tasks or () if number not in found]
    if strange:
        have = ", ".join(map(str, sorted(found)))
        raise InputError(f"{folder}: no file qa{strange[0]}_*_{split}.txt there; it has the tasks {have}")
    return [found[number] for number in (sorted(found) if tasks is None else sorted(set(tasks)))]


def _of_babi(lines: list[str], path: Path, *, answered: bool) -> list[Question]:
    name = plain_path(path).name
    match = _BABI.fullmatch(name)
    task = f"{match[1]} {match[2]}" if match else name
    questions: list[Question] = []
    story: list[tuple[str, ...]] = []
    indices: dict[int, int] = {}  # of each numbered line, its sentence's index in the story
    last = number = 0
    for line_number, line in enumerate(lines, start=1):
        where = f"{path}, line {line_number}"
        if not line.strip():
            continue
        first, _, rest = line.strip().partition(" ")
        if not first.isascii() or not first.isdigit() or int(first) not in (1, last + 1):
            wanted = "1" if not last else f"{last + 1}, or 1 for a new story"
            wanted += "; JSON lines belong in a file *.jsonl" if first.startswith("{") else ""
            raise InputError(f"{where}: found {first[:20]!r}, wanted the number of the line in its story, {wanted}")
        last = int(first)
        if last == 1:
            story, indices, number = [], {}, number + 1
        if "\t" not in rest and (answered or not rest.rstrip().endswith("?")):
            indices[last] = len(story)
            story.append(_sentence(rest, where))
            if len(story) > LONGEST_STORY:
                raise InputError(f"{where}: more than {LONGEST_STORY} sentences in a story; begin a new one with 1")
            continue
        question, answer, *facts = (part.strip() for part in (rest if "\t" in rest else f"{rest}\t").split("\t"))
        if (answered and not answer) or not story or len(facts) > 1:
            raise InputError(
                f"{where}: wanted a question, a tab, its answer, a tab, and the lines that it rests on;"
                " with a story before it"
            )
        named = facts[0].split() if facts else []
        strange = [name for name in named if not (name.isascii() and name.isdigit() and int(name) in indices)]
        if strange:
            raise InputError(f"{where}: found {strange[0][:20]!r}, wanted the number of a sentence of the story")
        rests_on = tuple(indices[int(name)] for name in named)
        words = _sentence(question, where)
        questions.append(Question(tuple(story), words, _answer(answer), rests_on, task, where, number))
    return questions


def _of_json_lines(lines: list[str], path: Path, *, answered: bool) -> list[Question]:
    questions: list[Question] = []
    for line_number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {line_number}"
        record = parse_json(line, where, wanted=_ANSWERED if answered else _ASKED)
        question = question_of(record, where, answered=answered)
        questions.append(question._replace(task=plain_path(path).name, number=line_number))
    return questions


def question_of(record: Any, where: str, *, answered: bool = True) -> Question:
    """The question of a JSON object; `answered` wants an answer with it."""
    found = record if isinstance(record, dict) else {}
    story, question, answer = found.get("story"), found.get("question"), found.get("answer", None if answered else "")
    if isinstance(story, str):
        story = split_sentences(story)
    if (
        not isinstance(story, list)
        or not story
        or not all(isinstance(sentence, str) for sentence in story)
        or not isinstance(question, str)
        or not isinstance(answer, str)
        or (answered and not answer.strip())
    ):
        raise InputError(f"{where}: found {str(record)[:60]!r}, wanted {_ANSWERED if answered else _ASKED}")
    if len(story) > LONGEST_STORY:
        raise InputError(f"{where}: {len(story)} sentences in the story, wanted at most {LONGEST_STORY}")
    facts = found.get("facts", [])
    if not isinstance(facts, list) or not all(type(fact) is int and 0 <= fact < len(story) for fact in facts):
        raise InputError(f'{where}: wanted "facts" as a list of indices from 0 to {len(story) - 1}, the last sentence')
    sentences = tuple(_sentence(sentence, where) for sentence in story)
    return Question(sentences, _sentence(question, where), _answer(answer), tuple(facts), where=where)


def _sentence(text: str, where: str) -> tuple[str, ...]:
    words = story_words(text)
    if not 0 < len(words) <= LONGEST_SENTENCE:
        raise InputError(f"{where}: a sentence of {len(words)} words, wanted 1 to {LONGEST_SENTENCE}")
    return words


def _answer(text: str) -> str:
    """An answer as one label, on one line."""
    return " ".join(text.split())
