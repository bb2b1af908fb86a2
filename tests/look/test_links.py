"""From weights to hard alignments."""

import numpy as np
import pytest

from saccade.base.errors import InputError
from saccade.look import AttentionMap, as_pharaoh, links, symmetrize

ROWS, COLUMNS = ["das", "Haus", "steht", "</s>"], ["the", "house", "stands", "</s>"]
WEIGHTS = np.array(
    [
        [0.7, 0.1, 0.1, 0.1],
        [0.6, 0.4, 0.0, 0.0],  # looks most at "the", as "das" does, more strongly
        [0.2, 0.2, 0.3, 0.3],  # undecided
        [0.0, 0.0, 0.9, 0.1],  # the end, which has no link
    ]
)


def test_links_by_hand() -> None:
    seen = AttentionMap(ROWS, COLUMNS, WEIGHTS)
    assert links(seen) == [(0, 0), (0, 1), (2, 2)]
    assert links(seen, "mutual") == [(0, 0)]  # the end looks more at "stands" than "steht" does
    assert links(seen, "entropy", sure=0.7) == [(0, 0), (0, 1)]
    assert as_pharaoh(links(seen)) == "0-0 0-1 2-2"


def test_a_word_that_looks_at_the_end_has_no_link() -> None:
    weights = WEIGHTS.copy()
    weights[1] = [0, 0, 0.1, 0.9]
    weights[2] = 0  # one that looks nowhere has none either
    assert links(AttentionMap(ROWS, COLUMNS, weights)) == [(0, 0)]


def test_links_of_one_layer_and_head() -> None:
    other = np.roll(WEIGHTS, 1, axis=1)
    both = AttentionMap(ROWS, COLUMNS, np.stack([WEIGHTS, other])[:, None])
    assert links(both, layer=1) == links(AttentionMap(ROWS, COLUMNS, other))
    assert links(both, layer=1) != links(both, layer=0)
    with pytest.raises(InputError, match="layer: found 2"):
        links(both, layer=2)
    with pytest.raises(InputError, match="method: found 'best'"):
        links(both, "best")  # pyright: ignore[reportArgumentType]


def test_two_directions_are_symmetrized() -> None:
    forward, backward = [(0, 0), (1, 1), (1, 2), (3, 5)], [(0, 0), (1, 1), (2, 2), (5, 3)]
    assert symmetrize(forward, backward, "intersection") == [(0, 0), (1, 1)]
    assert symmetrize(forward, backward, "union") == sorted({*forward, *backward})
    # (1, 2) and (2, 2) are beside (1, 1); the first of them takes target 2, and source 2 is still free for the second
    assert symmetrize(forward, backward, "grow-diag") == [(0, 0), (1, 1), (1, 2), (2, 2)]
    # here both words of (1, 0) have links already
    assert symmetrize([(0, 0), (1, 1), (1, 0)], [(0, 0), (1, 1)], "grow-diag") == [(0, 0), (1, 1)]
    with pytest.raises(InputError, match="how: found 'all'"):
        symmetrize(forward, backward, "all")  # pyright: ignore[reportArgumentType]
