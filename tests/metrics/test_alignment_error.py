"""The alignment error rate: by hand, and on links that others found on the Hansards."""

from pathlib import Path

import pytest

from saccade.base.errors import InputError
from saccade.metrics import Gold, read_links, score_alignments

DATA = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "align"


def test_by_hand() -> None:
    gold = [Gold(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1), (1, 2)})), Gold(frozenset(), frozenset())]
    score = score_alignments([[(0, 0), (1, 2), (2, 2)], [(0, 0)]], gold)
    # A = 4 links, S = 2, A ∩ S = 1, A ∩ P = 2
    assert score.precision == pytest.approx(50)
    assert score.recall == pytest.approx(50)
    assert score.aer == pytest.approx(100 * (1 - 3 / 6))


def test_the_right_links_make_no_error() -> None:
    gold = [Gold(frozenset({(0, 0)}), frozenset({(0, 0), (0, 1)}))]
    assert score_alignments([[(0, 0)]], gold) == (0, 100, 100)
    assert score_alignments([[(0, 0), (0, 1)]], gold) == (0, 100, 100)
    assert score_alignments([[]], gold).aer == 100


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "gold"
    path.write_text("0-0 1p2\n\n")
    first, second = read_links(path)
    assert first == Gold(frozenset({(0, 0)}), frozenset({(0, 0), (1, 2)}))
    assert second == Gold(frozenset(), frozenset())
    path.write_text("0-0\n1:2\n")
    with pytest.raises(InputError, match=r"gold, line 2: found '1:2', wanted links such as 0-0"):
        read_links(path)
    with pytest.raises(ValueError, match="gold: found 2 sentences, wanted 1"):
        score_alignments([[]], [first, second])
    with pytest.raises(ValueError, match="found no links and no sure gold links"):
        score_alignments([[]], [second])


@pytest.mark.skipif(not DATA.exists(), reason="the Hansards are not on this machine")
@pytest.mark.parametrize(("aligner", "error"), [("giza", 5.9), ("fast_align", 10.5)])
def test_the_published_error_of_other_aligners(aligner: str, error: float) -> None:
    found = [sorted(line.possible) for line in read_links(DATA / f"{aligner}_grow_diagonal.talp")]
    assert score_alignments(found, read_links(DATA / "hansards.gold")).aer == pytest.approx(error, abs=0.05)
