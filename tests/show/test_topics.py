"""What holds for every topic."""

import re
from pathlib import Path

import pytest
import torch

from saccade.base.errors import InputError
from saccade.show import TOPICS, Lesson, Text, make_lesson, summary
from saccade.show.page import as_page
from tests.show.samples import lesson_of

DRAWN = [topic for topic in TOPICS if topic != "cost"]  # which measures time


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_has_a_line_prose_a_picture_and_a_paper(topic: str) -> None:
    assert 20 < len(summary(topic)) < 120
    shown = lesson_of(topic)
    assert isinstance(shown, Lesson)
    assert isinstance(shown.blocks[0], Text)
    assert len({type(block) for block in shown.blocks}) > 1
    assert shown.title
    assert shown.paper


def test_the_page_has_a_row_for_each_topic() -> None:
    page = (Path(__file__).parents[2] / "docs" / "show.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", page, re.MULTILINE)
    assert rows == [(topic, summary(topic)) for topic in TOPICS]


@pytest.mark.parametrize("topic", DRAWN)
def test_the_same_seed_gives_the_same(topic: str) -> None:
    assert as_page(make_lesson(topic)) == as_page(lesson_of(topic))


def test_torchs_own_draws_and_threads_go_on_as_they_would() -> None:
    torch.manual_seed(5)
    wanted, threads = torch.rand(3), torch.get_num_threads()
    torch.manual_seed(5)
    make_lesson("permutation", seed=11)
    assert torch.rand(3).equal(wanted)
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize(
    ("topic", "seed", "message"),
    [
        ("gardening", 1, "topic: found 'gardening', wanted one of worked-example, "),
        ("mask", -1, "seed: found -1, wanted 0 to"),
        ("mask", 1 << 63, "seed: found 9223372036854775808, wanted 0 to"),
    ],
)
def test_what_there_is_not_is_refused(topic: str, seed: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_lesson(topic, seed=seed)
