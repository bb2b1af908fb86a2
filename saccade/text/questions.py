"""Questions about passages, and the files that hold them: SQuAD's own JSON, or JSON lines.

squad.json       {"data": [{"paragraphs": [{"context": "...", "qas": [{"question": "...", "answers": [...]}]}]}]}
                 (an answer is {"text": "..."})
questions.jsonl  {"question": "Where does Anna live?", "passage": "Anna lives in Ghent.", "answers": ["Ghent"]}
                 (or "context" for "passage", and one "answer"; "answers" may also be as SQuAD has them)

Each may be packed: squad.json.gz. Of SQuAD 2.0, many questions have no answer.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from saccade.base.compressed import plain_path
from saccade.base.errors import InputError
from saccade.base.files import read_text_file, split_lines
from saccade.base.parse_json import parse_json
from saccade.text.pairs import Pair
from saccade.text.records import BadRecordError, LeftOut, decode_record

# Stands between question and passage as a word of its own, which every vocabulary learns as it learns others: it is in
# each source.
SEPARATOR = "|||"

_EXAMPLE = '{"question": "...", "passage": "...", "answers": ["..."]}'
_SQUAD = '{"data": [{"paragraphs": [{"context": "...", "qas": [{"question": "...", "answers": [...]}]}]}]}'


class Question(NamedTuple):
    """A question with its passage."""

    source: str  # both of them
    answers: tuple[str, ...]  # the right ones, each once; there may be none

    @property
    def pair(self) -> Pair:
        """The question and its first answer, to learn from."""
        return Pair(self.source, self.answers[0])


def join_question(question: str, passage: str) -> str:
    """Question and passage as one source."""
    return f"{question} {SEPARATOR} {passage}"


def read_questions(path: Path, *, left_out: LeftOut | None = None) -> list[Question]:
    """The questions of a file.

    What cannot be read of JSON lines is noted in `left_out` and left out; without it, the first is an `InputError`.
    """
    content = read_text_file(path)
    if plain_path(path).suffix == ".json":
        text = decode_record(content, str(path))
        questions = list(_of_squad(parse_json(text, str(path), wanted=f"SQuAD's form, {_SQUAD}"), path))
    else:
        questions = list(_of_lines(content, path, left_out))
    if not questions:
        raise InputError(f"{path}: found no question; wanted SQuAD's JSON in a file *.json, or JSON lines in *.jsonl")
    return questions


def _of_squad(found: Any, path: Path) -> Iterator[Question]:
    number = 0
    for article in _list(found, "data", str(path)):
        for paragraph in _list(article, "paragraphs", f"{path}, behind question {number}"):
            where = f"{path}, behind question {number}"
            passage = _text(paragraph, ("context",), where)
            for question in _list(paragraph, "qas", where):
                number += 1
                where = f"{path}, question {number}"
                answers = [] if question.get("is_impossible") else _answers(question, where)
                yield Question(join_question(_text(question, ("question",), where), passage), tuple(answers))


def _list(found: Any, name: str, where: str) -> list[dict[str, Any]]:
    inner = found.get(name) if isinstance(found, dict) else None
    if not isinstance(inner, list) or not all(isinstance(one, dict) for one in inner):
        raise InputError(f"{where}: found no list of objects under {name!r}, wanted SQuAD's form, {_SQUAD}")
    return inner


def _of_lines(content: bytes, path: Path, left_out: LeftOut | None) -> Iterator[Question]:
    for number, line in enumerate(split_lines(content), start=1):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            record = _record(decode_record(line, where), where)
            yield Question(join_question(*_asked(record, where)), tuple(_answers(record, where)))
        except BadRecordError as bad:
            if left_out is None:
                raise
            left_out.add(bad.reason, f"line {number}")


def text_of_question(line: str, where: str) -> str:
    """The source that a line of JSON asks for, with or without an answer."""
    return join_question(*_asked(_record(line, where), where))


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        record = parse_json(line, where, wanted=f"an object a line, such as {_EXAMPLE}")
    except InputError as error:
        raise BadRecordError(str(error), reason="not valid JSON") from None
    if not isinstance(record, dict):
        raise BadRecordError(f"{where}: found a {type(record).__name__}, wanted {_EXAMPLE}", reason="no object")
    return record


def _asked(record: dict[str, Any], where: str) -> tuple[str, str]:
    return _text(record, ("question",), where), _text(record, ("passage", "context"), where)


def _text(record: dict[str, Any], names: tuple[str, ...], where: str) -> str:
    for name in names:
        if isinstance(record.get(name), str):
            return record[name]
    raise BadRecordError(
        f"{where}: found no text under {names[0]!r}, but {', '.join(map(str, record))[:200]!r}; wanted {_EXAMPLE}",
        reason=f"without a text under {names[0]!r}",
    )


def _answers(record: dict[str, Any], where: str) -> list[str]:
    """The answers, each once: a text, or a list of them, plain or as SQuAD and the Hugging Face hub have them."""
    found = record.get("answers", record.get("answer"))
    found = found.get("text") if isinstance(found, dict) else found
    found = [found] if isinstance(found, str) else found
    texts: list[object] | None = None
    if isinstance(found, list):
        texts = [one.get("text") if isinstance(one, dict) else one for one in found]
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise BadRecordError(
            f"{where}: found no texts under 'answers'; wanted {_EXAMPLE}", reason="without texts under 'answers'"
        )
    return list(dict.fromkeys(text for text in map(str, texts) if text.strip()))
