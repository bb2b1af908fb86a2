"""Exact match and F1 of short answers: cases worked by hand, and the rules applied one letter at a time."""

import random

import pytest

from saccade.metrics import answer_words, score_answers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Denver Broncos!", ["denver", "broncos"]),
        ("an apple, a day", ["apple", "day"]),
        ("theatre Athena", ["theatre", "athena"]),  # articles are whole words
        ("U.S.", ["us"]),
        ("twenty-one  %\n\tAND", ["twentyone", "and"]),
        ("'a' (the)", []),
        ("a-b", ["ab"]),  # punctuation goes first, so there is no article
        ("“the” €5…", ["“", "”", "€5…"]),  # other than ASCII's stays, and parts words for the articles alone
        ("Straße İ", ["straße", "i̇"]),
        ("", []),
    ],
)
def test_words_of_an_answer(text: str, words: list[str]):
    assert answer_words(text) == words


@pytest.mark.parametrize(
    ("answer", "golds", "exact", "f1"),
    [
        ("the Saints", ["Saints"], 1, 1),
        ("Denver Broncos", ["The Broncos"], 0, 2 * (1 / 2 * 1) / (1 / 2 + 1)),
        ("in 1066 1066", ["1066 1066 1066"], 0, 2 * (2 / 3 * 2 / 3) / (4 / 3)),  # as often as both have it
        ("Hastings in", ["in Hastings"], 0, 1),  # in any order
        ("red", ["blue", "red car", "green"], 0, 2 * (1 * 1 / 2) / (3 / 2)),  # the best of several
        ("red", ["blue", "RED."], 1, 1),
        ("red", ["blue"], 0, 0),
        ("", ["blue"], 0, 0),
        ("red", ["the"], 0, 0),
        ("a", ["the"], 1, 0),  # version 1.1: no word in common, though nothing differs
    ],
)
def test_one_answer(answer: str, golds: list[str], exact: float, f1: float):
    found = score_answers([answer], [golds])
    assert found == pytest.approx({"exact_match": 100 * exact, "f1": 100 * f1})


def plain_words(text: str) -> list[str]:
    kept = "".join(
        letter
        for letter in text.lower()
        if not (letter.isascii() and letter.isprintable() and not letter.isalnum() and letter != " ")
    )
    return [word for word in kept.split() if word not in {"a", "an", "the"}]


def plain_f1(found: list[str], wanted: list[str]) -> float:
    left, same = list(wanted), 0
    for word in found:
        if word in left:
            left.remove(word)
            same += 1
    return 2 * same / (len(found) + len(wanted)) if same else 0.0


@pytest.mark.parametrize("seed", range(7))
def test_many_answers_are_counted_as_by_hand(seed: int):
    rng = random.Random(seed)

    def text() -> str:
        words = rng.choices(
            ["the", "The", "a", "cat", "Cat.", "dog", "(dog)", "in-law", "inlaw", "7", "!"], k=rng.randint(0, 5)
        )
        return rng.choice([" ", "  ", "\n"]).join(words)

    answers = [text() for _ in range(53)]
    golds = [[text() for _ in range(rng.randint(1, 3))] for _ in answers]
    pairs = [
        (plain_words(one), [plain_words(gold) for gold in others]) for one, others in zip(answers, golds, strict=True)
    ]
    wanted = {
        "exact_match": 100 * sum(any(" ".join(one) == " ".join(gold) for gold in others) for one, others in pairs) / 53,
        "f1": 100 * sum(max(plain_f1(one, gold) for gold in others) for one, others in pairs) / 53,
    }
    assert score_answers(answers, golds) == pytest.approx(wanted)
    assert 0 < wanted["exact_match"] < wanted["f1"] < 100


@pytest.mark.parametrize(("answers", "golds"), [(["a"], []), ([], []), (["a"], [[]])])
def test_answers_without_right_ones_are_refused(answers: list[str], golds: list[list[str]]):
    with pytest.raises(ValueError, match="right one"):
        score_answers(answers, golds)
