"""Numbers of things, in words."""

from saccade.base.counts import counted


def test_one_is_one() -> None:
    assert counted(1, "pair") == "1 pair"
    assert [counted(number, "pair") for number in (0, 2, 20_000)] == ["0 pairs", "2 pairs", "20,000 pairs"]
    assert [counted(number, "story", "stories") for number in (1, 3)] == ["1 story", "3 stories"]
