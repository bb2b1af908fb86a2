"""Stories: bAbI's format, JSON lines, made ones; and how they become numbers."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.cli.main import main
from saccade.tasks.story_qa.arrays import StoryWords, encode_stories, unknown_words
from saccade.tasks.story_qa.made import PEOPLE, ROOMS, make_stories
from saccade.tasks.story_qa.stories import read_stories, split_sentences, story_words, write_stories

BABI = Path(__file__).parents[4] / "shared" / "data" / "babi" / "en"
EXAMPLE = """1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Mary took the milk there.
5 How do you go from here?\tn,w\t4 2
1 Fred gave the ball to Bill.
2 Who gave it?\tFred\t1
"""


def written(folder: Path, text: str, name: str = "qa7_my-own_train.txt") -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_babis_format(tmp_path: Path) -> None:
    first, second, third = read_stories(written(tmp_path, EXAMPLE))
    assert first.story == (("mary", "moved", "to", "the", "bathroom"), ("john", "went", "to", "the", "hallway"))
    assert first.question == ("where", "is", "mary")
    assert (first.answer, first.facts, first.number) == ("bathroom", (0,), 1)
    assert first.where.endswith("qa7_my-own_train.txt, line 3")
    assert second.story == (*first.story, ("mary", "took", "the", "milk", "there"))  # questions are no sentences
    assert (second.answer, second.facts) == ("n,w", (2, 1))  # line 4 is the third sentence
    assert (third.answer, third.story, third.number) == ("Fred", (("fred", "gave", "the", "ball", "to", "bill"),), 2)
    assert {one.task for one in (first, second, third)} == {"7 my-own"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Mary moved.\n", "line 1: found 'Mary', wanted the number of the line in its story, 1"),
        ("1 Mary moved.\n3 John went.\n", "line 2: found '3', wanted the number of the line in its story, 2, or 1"),
        ("2 Mary moved.\n", "line 1: found '2'"),
        ("1 Where is Mary?\tbathroom\t1\n", "line 1: wanted a question, a tab, its answer.*a story before it"),
        ("1 Mary moved.\n2 Where?\t\t1\n", "line 2: wanted a question"),
        ("1 Mary moved.\n2 Where?\there\t1\tmore\n", "line 2: wanted a question"),
        ("1 Mary moved.\n2 Where?\there\t2\n", "line 2: found '2', wanted the number of a sentence"),
        ("1 Mary moved.\n2 Where?\there\tfirst\n", "line 2: found 'first'"),
        ("1 ...\n", "line 1: a sentence of 0 words, wanted 1 to 256"),
        (f"1 {'so ' * 300}\n", "line 1: a sentence of 300 words"),
        ("1 Mary moved.\n", "found no question; wanted bAbI's format, or JSON lines"),
        ("", "found no question"),
    ],
)
def test_what_is_not_babis_format_gets_one_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_stories(written(tmp_path, text))
    assert "qa7_my-own_train.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_is_read_in_the_order_of_its_tasks(tmp_path: Path) -> None:
    for number in (10, 2):
        for split in ("train", "test"):
            written(tmp_path, EXAMPLE.replace("Mary", split), f"qa{number}_x_{split}.txt")
    written(tmp_path, "not read", "README.txt")
    assert [one.task for one in read_stories(tmp_path)] == ["2 x"] * 3 + ["10 x"] * 3
    assert read_stories(tmp_path, split="test")[0].story[0][0] == "test"
    assert {one.task for one in read_stories(tmp_path, tasks=[10])} == {"10 x"}
    with pytest.raises(InputError, match=r"no file qa3_\*_train.txt there; it has the tasks 2, 10"):
        read_stories(tmp_path, tasks=[2, 3])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no file qa\*_train.txt there"):
        read_stories(tmp_path / "empty")
    with pytest.raises(InputError, match="tasks can be chosen from a folder"):
        read_stories(tmp_path / "qa2_x_train.txt", tasks=[2])


def test_json_lines(tmp_path: Path) -> None:
    records = [
        {
            "story": ["Ann is in.", "Bob's out-of-town!"],
            "question": "Where is Ann?",
            "answer": " in  there ",
            "facts": [0],
        },
        {"story": "Ann is in. Bob is out.\nÉva too", "question": "Who?", "answer": "Ann"},
    ]
    path = written(tmp_path, "\n\n".join(map(json.dumps, records)), "mine.jsonl")
    first, second = read_stories(path)
    assert first.story == (("ann", "is", "in"), ("bob's", "out-of-town"))
    assert (first.answer, first.facts, first.task) == ("in there", (0,), "mine.jsonl")
    assert second.story == (("ann", "is", "in"), ("bob", "is", "out"), ("éva", "too"))
    assert second.where.endswith("mine.jsonl, line 3")
    unanswered = written(tmp_path, '{"story": ["Ann is in."], "question": "Where?"}', "asked.jsonl")
    assert read_stories(unanswered, answered=False)[0].answer == ""
    with pytest.raises(InputError, match=r"asked.jsonl, line 1: found .* wanted \{\"story\""):
        read_stories(unanswered)


def test_packed_stories_are_what_they_were(tmp_path: Path) -> None:
    """bAbI's format in a file and in a folder, and JSON lines; which it is, the name before `.gz` says."""
    babi = written(tmp_path, EXAMPLE)
    lines = written(tmp_path, '{"story": ["Ann is in."], "question": "Where is Ann?", "answer": "in"}', "mine.jsonl")
    for path in (babi, lines):
        plain = read_stories(path)
        packed = tmp_path / f"{path.name}.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert [one._replace(where="") for one in read_stories(packed)] == [one._replace(where="") for one in plain]
    with pytest.raises(InputError, match=r"train\.txt and qa7_my-own_train\.txt\.gz are both of task 7; wanted one"):
        read_stories(tmp_path)
    babi.unlink()
    assert {one.task for one in read_stories(tmp_path)} == {"7 my-own"}


def test_two_files_of_one_task_are_refused(tmp_path: Path) -> None:
    for name in ("qa1_made_train.txt", "qa1_single-supporting-fact_train.txt"):
        written(tmp_path, EXAMPLE, name)
    written(tmp_path, EXAMPLE, "qa1_made_test.txt")
    with pytest.raises(InputError, match="are both of task 1; wanted one file of each task"):
        read_stories(tmp_path)
    assert len(read_stories(tmp_path, split="test")) == 3


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 1: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        ("[]", "line 1: found '\\[\\]', wanted"),
        ('{"story": [], "question": "a", "answer": "b"}', "wanted {"),
        ('{"story": [1], "question": "a", "answer": "b"}', "wanted {"),
        ('{"story": ["a"], "question": "a", "answer": 1}', "wanted {"),
        ('{"story": ["a"], "question": "?", "answer": "b"}', "a sentence of 0 words"),
        (r'{"story": ["a"], "question": "a", "answer": "\uDFFF"}', r"line 1: found \\udfff, half of a character"),
        ('{"story": ["a"], "question": "a", "answer": "b", "facts": [1]}', "indices from 0 to 0"),
        ('{"story": ["a"], "question": "a", "answer": "b", "facts": [true]}', "indices from 0 to 0"),
    ],
)
def test_bad_json_lines(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_stories(written(tmp_path, line, "bad.jsonl"))


def test_sentences_and_words() -> None:
    assert split_sentences("Mary went. John, too!\n\nWho is it? Dr. No") == [
        "Mary went.",
        "John, too!",
        "Who is it?",
        "Dr.",
        "No",
    ]
    assert split_sentences(" .. \n") == []
    assert story_words("The 2 dogs' O'Neill-house.") == ("the", "2", "dogs", "o'neill-house")


def test_words_are_kept_with_how_answers_are_written(tmp_path: Path) -> None:
    questions = read_stories(written(tmp_path, EXAMPLE))
    words = StoryWords.learn(questions)
    assert words.number("bathroom") == words.number("Bathroom") > 0
    assert words.number("strange") == 0
    assert words.numbers(("mary", "strange", "moved")) == (words.number("mary"), words.number("moved"))
    assert [words.text(words.number(answer)) for answer in ("fred", "n,w", "bathroom")] == ["Fred", "n,w", "bathroom"]
    words.save(tmp_path / "words.txt")
    assert "fred\tFred\n" in (tmp_path / "words.txt").read_text()
    again = StoryWords.load(tmp_path / "words.txt")
    assert (again.words, again.written) == (words.words, words.written)
    for damaged in ("", "a\n\nb\n", "a\na\n"):
        (tmp_path / "words.txt").write_text(damaged)
        with pytest.raises(InputError, match="damaged"):
            StoryWords.load(tmp_path / "words.txt")
    with (tmp_path / "words.txt").open("wb") as file:
        file.truncate(1 << 40)  # a file with nothing in it, as large as may be
    with pytest.raises(InputError, match="it is not one that saccade wrote"):
        StoryWords.load(tmp_path / "words.txt")


def test_arrays_have_each_sentence_once_and_the_most_recent_first(tmp_path: Path) -> None:
    questions = read_stories(written(tmp_path, EXAMPLE))
    words = StoryWords.learn(questions)
    arrays = encode_stories(questions, words, memory_size=2)

    def sentence(index: int) -> list[str]:
        return [words.words[number] for number in arrays.sentences[index] if number]

    assert [sentence(index) for index in arrays.stories[1]] == [
        list(questions[1].story[2]),
        list(questions[1].story[1]),
    ]
    assert arrays.stories[0, 0] == arrays.stories[1, 1]  # John's
    assert arrays.stories[2].tolist()[1:] == [0]
    assert sentence(0) == []
    assert [sentence(index) for index in arrays.questions] == [list(one.question) for one in questions]
    assert [words.text(answer) for answer in arrays.answers] == ["bathroom", "n,w", "Fred"]
    part = arrays.select(np.array([2, 0]))
    assert part.stories.shape == (2, 2)
    assert len(part.sentences) == 1 + 3 + 2
    for row, whole in ((0, 2), (1, 0)):
        found, wanted = part.sentences[part.stories[row]], arrays.sentences[arrays.stories[whole]]
        np.testing.assert_array_equal(found, wanted[:, : found.shape[1]])
        assert not wanted[:, found.shape[1] :].any()
    assert part.answers.tolist() == arrays.answers[[2, 0]].tolist()


def test_unknown_words_are_passed_over_but_not_a_whole_question(tmp_path: Path) -> None:
    questions = read_stories(written(tmp_path, EXAMPLE))
    words = StoryWords.learn(questions[:1])
    strange = questions[2]._replace(question=("where", "is", "zoe"))
    arrays = encode_stories([strange, questions[0]], words, memory_size=50)
    assert (arrays.sentences[arrays.questions[0]] > 0).sum() == 2
    assert arrays.stories[0, 0] != 0  # 'the' and 'to' are known
    nothing = questions[0]._replace(story=(("zoe", "slept"), *questions[0].story))
    blank = encode_stories([nothing], words, memory_size=50)
    assert (blank.stories != 0).sum() == 3  # it keeps its place and its time
    assert not blank.sentences[blank.stories[0, 2]].any()
    with pytest.raises(InputError, match=r"line 3: 'quo vadis' has no word that the model knows; ask with"):
        encode_stories([questions[0]._replace(question=("quo", "vadis"))], words, memory_size=50)


def test_which_words_are_passed_over(tmp_path: Path) -> None:
    (question, *_) = read_stories(written(tmp_path, EXAMPLE))
    words = StoryWords.learn([question])
    story = (("zoe", "slept"), ("mary", "slept", "in", "the", "bathroom"), ("john", "in", "love"))
    strange = question._replace(story=story, question=("where", "is", "love", "zoe"))
    assert unknown_words(strange, words, memory_size=50) == ["zoe", "slept", "in", "love"]
    assert unknown_words(strange, words, memory_size=1) == ["in", "love", "zoe"]  # what is forgotten is not read at all
    assert unknown_words(question, words, memory_size=50) == []


def test_made_stories_are_true() -> None:
    """By another way: follow the story sentence by sentence, and see whether the answer is so."""
    questions = make_stories(200, seed=3)
    assert questions == make_stories(200, seed=3)
    assert questions != make_stories(200, seed=4)
    kinds: set[str] = set()
    for one in questions:
        room: dict[str, str] = {}
        found_in: dict[str, str] = {}  # of a thing: a person or a room
        for sentence in one.story:
            person, *_, last = sentence
            if "went" in sentence:
                room[person] = last
            elif "took" in sentence:
                found_in[last] = person
            else:
                found_in[sentence[3]] = room[person]
        *_, what = one.question
        if one.question[0] == "who":
            found = found_in[what]
        else:
            found = room[what] if what in room else room.get(found_in[what], found_in[what])
        assert found == one.answer.lower(), one
        assert all(0 <= fact < len(one.story) for fact in one.facts)
        told = {word for fact in one.facts for word in one.story[fact]}
        assert one.answer.lower() in told
        kinds.add(" ".join(one.question[:2]) + (" thing" if one.question[-1] not in map(str.lower, PEOPLE) else ""))
    assert len(kinds) >= 3
    assert {one.answer for one in questions} >= set(ROOMS)


def test_babi_as_published() -> None:
    if not BABI.is_dir():
        pytest.skip("no bAbI in ../shared/data")
    questions = read_stories(BABI, tasks=[1, 19], split="test")
    assert len(questions) == 2000
    assert {one.task for one in questions} == {"1 single-supporting-fact", "19 path-finding"}
    assert {one.answer for one in questions if one.task.startswith("19")} >= {"n,w", "s,e"}
    for one in questions[:1000]:
        (fact,) = one.facts
        assert one.answer in one.story[fact]


def test_written_stories_are_read_as_they_were(tmp_path: Path) -> None:
    questions = make_stories(8, seed=1)
    write_stories(tmp_path / "qa1_made_train.txt", questions)
    again = read_stories(tmp_path)
    assert [one[:4] for one in again] == [one[:4] for one in questions]
    assert [one.number for one in again] == [one.number + 1 for one in questions]


def test_stories_get_a_folder_and_only_their_files_are_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = tmp_path / "new" / "stories"
    make = ["data", "make", "stories", "--stories", "2", "--test", "1", "--out", str(folder)]
    assert main(make) == 0
    before = (folder / "qa1_made_train.txt").read_text()
    (folder / "qa2_mine_train.txt").write_text("mine")
    assert main(make) == 2
    assert "stands there already" in capsys.readouterr().err
    assert main([*make, "--seed", "1", "--overwrite"]) == 0
    assert (folder / "qa1_made_train.txt").read_text() != before
    assert (folder / "qa2_mine_train.txt").read_text() == "mine"
    assert len(list(folder.iterdir())) == 3
