"""Files of questions: SQuAD's JSON of both versions, and JSON lines in the forms that people have."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from saccade.base.errors import InputError
from saccade.text import SEPARATOR, Pair, Question, join_question, read_questions, text_of_question
from saccade.text.records import LeftOut

PASSAGE = "Anna lives in Ghent. Ben has a dog."
SQUAD: dict[str, Any] = {
    "version": "v2.0",
    "data": [
        {
            "title": "People",
            "paragraphs": [
                {
                    "context": PASSAGE,
                    "qas": [
                        {
                            "id": "1",
                            "question": "Where does Anna live?",
                            "answers": [
                                {"text": "Ghent", "answer_start": 14},
                                {"text": "in Ghent", "answer_start": 11},
                                {"text": "Ghent", "answer_start": 14},
                            ],
                        },
                        {
                            "id": "2",
                            "question": "Where does Ben live?",
                            "answers": [],
                            "plausible_answers": [{"text": "Ghent", "answer_start": 14}],
                            "is_impossible": True,
                        },
                    ],
                }
            ],
        },
        {"title": "Nothing", "paragraphs": []},
    ],
}
WANTED = [
    Question(f"Where does Anna live? {SEPARATOR} {PASSAGE}", ("Ghent", "in Ghent")),
    Question(f"Where does Ben live? {SEPARATOR} {PASSAGE}", ()),
]


@pytest.mark.parametrize("packed", [False, True])
def test_squad(packed: bool, tmp_path: Path) -> None:  # noqa: FBT001
    content, path = json.dumps(SQUAD).encode(), tmp_path / ("dev.json.gz" if packed else "dev.json")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert read_questions(path) == WANTED
    assert WANTED[0].pair == Pair(WANTED[0].source, "Ghent")


@pytest.mark.parametrize(
    "record",
    [
        {"question": "q", "passage": "p", "answer": "a"},
        {"question": "q", "context": "p", "answers": ["a"]},
        {"question": "q", "passage": "p", "answers": "a", "id": 7},
        {"question": "q", "context": "p", "answers": [{"text": "a", "answer_start": 0}]},
        {"question": "q", "context": "p", "answers": {"text": ["a", "a"], "answer_start": [0, 0]}},
    ],
)
def test_json_lines(record: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "some.jsonl").write_text(f"{json.dumps(record)}\n\n")
    assert read_questions(tmp_path / "some.jsonl") == [Question(join_question("q", "p"), ("a",))]
    assert text_of_question(json.dumps(record), "here") == join_question("q", "p")


BAD = [
    ("{", "line 1: not JSON"),
    ("[1]", "line 1: found a list, wanted"),
    ('{"question": "q"}', "line 1: found no text under 'passage', but 'question'"),
    ('{"passage": "p"}', "line 1: found no text under 'question'"),
    ('{"question": "q", "passage": "p", "answers": 7}', "line 1: found no texts under 'answers'"),
    ('{"question": "q", "passage": "p", "answers": [7]}', "line 1: found no texts under 'answers'"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_lines_are_refused_or_counted(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(f'{line}\n{{"question": "q", "passage": "p", "answer": "a"}}\n')
    with pytest.raises(InputError, match=message):
        read_questions(path)
    left_out = LeftOut("questions")
    assert len(read_questions(path, left_out=left_out)) == 1
    assert (left_out.first, left_out.reasons.total()) == ("line 1", 1)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([], "wanted SQuAD's form"),
        ({"data": 7}, "found no list of objects under 'data'"),
        ({"data": [{"paragraphs": [{"qas": []}]}]}, "behind question 0: found no text under 'context'"),
        (
            {"data": [{"paragraphs": [{"context": "", "qas": [{"answers": []}]}]}]},
            "question 1: found no text under 'question'",
        ),
        ({"data": []}, "found no question"),
    ],
)
def test_what_is_not_squad_is_refused(found: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "some.json").write_text(json.dumps(found))
    with pytest.raises(InputError, match=message):
        read_questions(tmp_path / "some.json")
