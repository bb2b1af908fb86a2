"""Whether a captioner looks at what it names, worked out by hand."""

import numpy as np
import pytest

from saccade.tasks.captioning.metrics import score_pointing_game
from saccade.tasks.captioning.result import Caption
from saccade.vision import Box, CaptionedImage, Noun

LEFT, RIGHT = Box(0.0, 0.0, 0.5, 1.0), Box(0.5, 0.0, 1.0, 1.0)
TRUTH = CaptionedImage("a.png", ["a star above a ring"], nouns=(Noun(1, LEFT), Noun(4, RIGHT)))


def caption(text: str, *peaks: int) -> Caption:
    """A caption whose words looked most at those of 2 x 2 regions, with two heads that are of one mind in the mean."""
    words = [*text.split(), "</s>"]
    weights = np.full((1, 2, len(words), 4), 0.1, dtype=np.float32)
    for word, region in enumerate(peaks):
        weights[0, 0, word, region] = 0.7
        weights[0, 1, word, (region + 1) % 4] = 0.3
    return Caption(text, 0.0, words, 2, weights)


def test_nouns_are_looked_for_in_their_boxes():
    # regions 0 and 2 are the left half, 1 and 3 the right one; only words 1 and 4 are nouns
    both = caption("a star above a ring", 3, 2, 3, 0, 1, 0)
    one = caption("a star above a ring", 3, 1, 3, 0, 3, 0)
    assert score_pointing_game([TRUTH], [both], side=2) == 100
    assert score_pointing_game([TRUTH], [one], side=2) == 50
    assert score_pointing_game([TRUTH, TRUTH], [both, one], side=2) == 75


@pytest.mark.parametrize("text", ["a ring above a star", "a star"])
def test_a_caption_that_is_wrong_does_not_count(text: str):
    right, wrong = caption("a star above a ring", 3, 2, 3, 0, 0, 0), caption(text, 0, 2)
    assert score_pointing_game([TRUTH, TRUTH], [right, wrong], side=2) == 50
    assert score_pointing_game([TRUTH], [wrong], side=2) == 0
